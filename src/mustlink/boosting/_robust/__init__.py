"""RobustBoostCluster: boosting with held-out trials, trust in each link, and belief propagation."""
