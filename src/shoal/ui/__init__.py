"""The local web page: from a file to a signed-off release without reading a manual.

Thin on purpose: pages ask, child processes answer, and those call `api`, `registry`, `proposing`, `auditing`
and `release` as the command line does. The server itself never holds a table.

==============  =======================================================================================
``serve``       starts and ends everything: the private folder, the port, the link, the browser
``guard``       who may speak to the server, and what a page may do
``app``         the addresses
``spaces``      opened tables, the decisions made about them, and their jobs
``workers``     child processes, their progress and their end
``worker``      what a child process runs
``tasks``       what it can be asked
``forms``       what the page draws its forms from
``static/``     the page: plain modules, no build step, nothing from elsewhere
==============  =======================================================================================
"""
