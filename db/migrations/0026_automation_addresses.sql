-- Why: no workspace may fill the table of automations, and a registry's event must find the automation that waits for it.

alter table workspaces add column automation_limit int default 1000 check (automation_limit >= 0);
comment on column workspaces.automation_limit is 'Most automations that are not deleted; null = no limit';

alter table automations add column registry_trigger_id text check (char_length(registry_trigger_id) between 1 and 200);
comment on column automations.registry_trigger_id is 'The trigger that the toolkit registry keeps for it; null without one';
create index automations_registry_trigger on automations (registry_trigger_id) where registry_trigger_id is not null;
-- What a workspace has is counted when it makes one more.
create index automations_of_workspace on automations (workspace_id) where deleted_at is null;
