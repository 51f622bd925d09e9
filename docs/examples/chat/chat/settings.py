SECRET_KEY = "for-this-example-only"
ALLOWED_HOSTS = ["127.0.0.1", "chat.example"]
INSTALLED_APPS = ["channels"]
ROOT_URLCONF = "chat.urls"
ASGI_APPLICATION = "chat.asgi.application"
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
