"""BoostCluster, and the parts that RobustBoostCluster shares with it."""
