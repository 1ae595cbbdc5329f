#!/usr/bin/env bash
# What the conformance suite starts as a client, once for each scenario: it has the test's own process run the client at the address that
# the suite adds as the last argument. So 40 clients cost the time of 40 shells. The first argument is the port of the test's process.
exec 3<>"/dev/tcp/127.0.0.1/$1"
printf '%s\n%s\n%s\n' "$MCP_CONFORMANCE_SCENARIO" "${!#}" "${MCP_CONFORMANCE_CONTEXT:-{\}}" >&3
read -r status <&3
cat <&3
exit "$status"
