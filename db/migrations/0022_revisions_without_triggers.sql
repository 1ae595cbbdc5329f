-- Why: Citus takes no triggers on distributed tables. The statements that change what turns keep in memory are few, and raise the revision
-- themselves (db/queries/workspaces/revision.ts).

drop trigger raise_revision on http_tools;
drop trigger raise_revision on external_mcps;
drop trigger raise_revision on native_connections;
drop trigger raise_revision on skills;
drop trigger raise_revision on ai_models;
drop trigger raise_revision on agents;
drop function raise_workspace_revision();
comment on table workspace_revisions is 'Goes up with each change of something that turns keep in memory. Whoever changes such a row by hand raises it by hand';
