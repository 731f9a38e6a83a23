"""The paper's section 5: plans, running them, findings, and a report."""
