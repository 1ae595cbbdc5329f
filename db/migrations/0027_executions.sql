-- Why: an execution whose process dies is found and worked again, and what is asked for each slot does not read all executions of its
-- automation.

alter table automation_executions add column taken_until timestamptz(3);
comment on column automation_executions.taken_until is 'A process has taken it and begins its conversation before then, by the clock of the database. From then on the lease of the conversation says whether it lives';
create index automation_executions_unended on automation_executions (workspace_id, automation_id) where status in ('DISPATCHED', 'RUNNING');
create index automation_executions_retry on automation_executions (retry_at) where retry_at is not null;
create index automation_executions_ended on automation_executions (completed_at) where completed_at is not null;

-- Workspaces with due slots are found by the one, their oldest slots by the other.
drop index automations_due;
create index automations_due on automations (due_at, workspace_id) where due_at is not null;
create index automations_due_of_workspace on automations (workspace_id, due_at) where due_at is not null;
