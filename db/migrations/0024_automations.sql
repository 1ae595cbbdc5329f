-- Why: agents act by themselves. What is due is decided here: an automation knows its next slot, and a slot has one execution, however
-- many processes look.

create table automations (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  name text not null check (char_length(name) between 1 and 150),
  description text check (char_length(description) <= 500),
  prompt text not null check (char_length(prompt) between 1 and 10000),
  status text not null default 'active' check (status in ('active', 'inactive')),
  inactive_reason text,
  hitl_mode text not null check (hitl_mode in ('auto_approve', 'pause_on_approval')),
  trigger_mode text not null check (trigger_mode in ('manual', 'schedule', 'webhook', 'webhook_url')),
  schedule text check (char_length(schedule) <= 100),
  timezone text check (char_length(timezone) <= 50),
  trigger_toolkit_slug text,
  trigger_slug text,
  trigger_config jsonb not null default '{}' check (jsonb_typeof(trigger_config) = 'object'),
  trigger_secrets bytea,
  next_run_at timestamptz(3),
  due_at timestamptz(3),
  last_run_at timestamptz(3),
  last_run_status text check (last_run_status in ('DISPATCHED', 'RUNNING', 'COMPLETED', 'FAILED')),
  failures_in_row int not null default 0 check (failures_in_row >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint automations_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade,
  constraint automations_due check ((next_run_at is null) = (due_at is null) and due_at >= next_run_at)
) with (fillfactor = 80);
comment on column automations.inactive_reason is 'Why the service made it inactive; null when a person did';
comment on column automations.trigger_config is 'As the API shows it, without secrets';
comment on column automations.trigger_secrets is 'Sealed JSON object: the secret values of the trigger configuration';
comment on column automations.next_run_at is 'The next slot of the schedule; null unless the automation is active and runs on a schedule';
comment on column automations.due_at is 'When the next slot is begun: slots of one minute are spread over some seconds, never early';
create unique index automations_name_key on automations (workspace_id, agent_id, lower(name)) where deleted_at is null;
create index automations_of_agent on automations (workspace_id, agent_id, created_at desc, id desc) where deleted_at is null;
create index automations_due on automations (due_at) where due_at is not null;
select protect_tenant_table('automations');

create table automation_executions (
  workspace_id uuid not null,
  id uuid not null,
  automation_id uuid not null,
  slot timestamptz(3),
  request_key bytea check (octet_length(request_key) = 32),
  triggered_by text not null check (char_length(triggered_by) between 1 and 250),
  status text not null default 'DISPATCHED' check (status in ('DISPATCHED', 'RUNNING', 'COMPLETED', 'FAILED')),
  is_skipped boolean not null default false,
  event jsonb check (jsonb_typeof(event) = 'object'),
  conversation_id uuid not null,
  attempts int not null default 0 check (attempts >= 0),
  retry_at timestamptz(3),
  error_code text,
  error_message text,
  started_at timestamptz(3) not null default now(),
  begun_at timestamptz(3),
  completed_at timestamptz(3),
  primary key (workspace_id, id),
  constraint automation_executions_automation_fkey foreign key (workspace_id, automation_id)
    references automations (workspace_id, id) on delete cascade,
  constraint automation_executions_end check ((status in ('COMPLETED', 'FAILED')) = (completed_at is not null)),
  constraint automation_executions_skipped check (not is_skipped or status = 'FAILED')
) with (fillfactor = 80);
comment on column automation_executions.slot is 'The time of the schedule that it is for; null when something else triggered it';
comment on column automation_executions.request_key is 'SHA-256 of the key by which its sender repeats a request; null without one';
comment on column automation_executions.is_skipped is 'The slot was not run: it was too late, or the execution before it had not ended';
comment on column automation_executions.event is 'What a sender sent, {contentType, text, digest}; without its text once the execution has ended';
comment on column automation_executions.conversation_id is 'The conversation that the execution begins; chosen beforehand, so that a second attempt finds the first';
comment on column automation_executions.started_at is 'When it was dispatched';
comment on column automation_executions.begun_at is 'When its agent began';
create unique index automation_executions_slot_key on automation_executions (workspace_id, automation_id, slot) where slot is not null;
create unique index automation_executions_request_key on automation_executions (workspace_id, automation_id, request_key)
  where request_key is not null;
create index automation_executions_list on automation_executions (workspace_id, automation_id, started_at desc, id desc);
create index automation_executions_open on automation_executions (status, started_at) where status in ('DISPATCHED', 'RUNNING');
create index automation_executions_conversation on automation_executions (workspace_id, conversation_id);
select protect_tenant_table('automation_executions');

-- Senders without an API key name an address, and nothing else says whose it is.
create table public_addresses (
  address_hash bytea primary key check (octet_length(address_hash) = 32),
  workspace_id uuid not null references workspaces (id),
  kind text not null check (kind in ('automation', 'channel')),
  target_id uuid not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3)
);
comment on table public_addresses is 'Addresses under /hooks and /chat. An address is 160 random bits or the id of a channel connection; only its hash is stored';
comment on column public_addresses.expires_at is 'An address that was replaced works until then; null = for ever';
create index public_addresses_target on public_addresses (workspace_id, target_id);
select protect_tenant_table('public_addresses');
