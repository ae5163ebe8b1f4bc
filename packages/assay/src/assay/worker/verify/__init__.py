"""Does the engine give the reference's answers?"""
