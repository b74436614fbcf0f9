from hypothesis import settings

settings.register_profile("patient", deadline=None)  # a first call may import or compile
settings.load_profile("patient")
