"""CSS: values, rules, colors and the cascade, as far as they affect visibility."""
