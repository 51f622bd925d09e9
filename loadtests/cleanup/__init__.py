"""What is started and made goes when whoever asked for it goes, in whichever way: processes under a guard, folders that
are named after their owner."""
