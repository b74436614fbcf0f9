"""The plug-ins of docs/plugins.md."""
