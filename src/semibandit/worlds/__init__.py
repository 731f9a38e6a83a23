"""Who answers: worlds whose truth is known, so that regret is exact."""
