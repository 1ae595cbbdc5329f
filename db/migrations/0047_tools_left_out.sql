-- Why: a tool of an MCP server that cannot be used is left out. Only the log said so, which whoever builds agents does not read.

alter table external_mcps add column tools_left_out jsonb check (jsonb_typeof(tools_left_out) = 'object');
comment on column external_mcps.tools_left_out is
  '{count, tools: [{name, reason}]}: what the server listed at the last discovery and agents cannot use, ten named at most; null when nothing';
