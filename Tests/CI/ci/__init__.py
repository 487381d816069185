"""Runs the steps of scripts/ci as the runners of GitHub and GitLab do."""
