"""The paper's section 5: plans, running them, findings, and a report.

Paper: Figure of Sony CSL Paris; Figure of Mediamill.
"""
