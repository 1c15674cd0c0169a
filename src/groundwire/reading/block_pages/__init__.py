"""Pages in front of the page: logins, bot checks, consent, paywalls and app shells."""
