"""CSS: values, rules, colors and the cascade, as far as visibility depends on them."""
