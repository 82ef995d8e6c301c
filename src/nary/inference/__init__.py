"""A trained model in use: the model folder and the predictor."""
