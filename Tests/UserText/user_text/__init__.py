"""The texts that users see, extracted from the sources."""
