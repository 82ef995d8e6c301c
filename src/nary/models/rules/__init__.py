"""Rules counted from the training facts: no gradients, readable tables, an explanation for every answer."""
