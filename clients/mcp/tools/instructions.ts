/** What all tools share, said once. A server puts it into its instructions. */
export const TOOL_INSTRUCTIONS = `Fields named …PublicId are UUIDs: take them from the list tools, never guess one.
Lists come in pages: page begins at 1, limit is 20 and at most 100; the answer has total and totalPages. Lists without page come whole, as items.
The body of a request is the argument body, an object. In a change an absent field stays as it is, and null clears a field whose type allows null. Unknown arguments are refused.
Times are ISO 8601 in UTC, money is in the smallest unit of the currency (cents), stored secrets read ********.
Changes to an agent (prompt, model, features, links, variables) change its draft; conversations follow after agents__publish_agent. Commands, channels and automations count at once.
An error has a code, the request that was sent, a requestId and what to do next.`;
