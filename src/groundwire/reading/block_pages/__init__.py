"""Detection of block pages: logins, bot checks, consent pages, paywalls and app shells."""
