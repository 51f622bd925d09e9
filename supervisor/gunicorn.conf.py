# Empty: Gunicorn reads a gunicorn.conf.py of the project that it serves, unless it is told another.
