"""End the processes and remove the folders of a program that has ended, even if SIGKILL ended the program."""
