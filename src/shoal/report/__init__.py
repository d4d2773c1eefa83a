"""The report: everything known about one release, on one offline page and as one file of numbers."""
