"""Files of the user: paths below a home folder, and outputs written whole or not at all."""
