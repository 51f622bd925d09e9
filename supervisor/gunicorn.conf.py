# Empty: without it Gunicorn reads a gunicorn.conf.py of the served project.
