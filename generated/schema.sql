-- Written by `npm run codegen` from db/migrations/, to be read in reviews. Do not edit, do not run.

create extension btree_gin;
create extension pg_trgm;
create extension unaccent;

create table agent_commands (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  name text not null,
  command text not null,
  description text,
  prompt text not null,
  status text not null default 'active'::text,
  usage_count bigint not null default 0,
  last_used_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint agent_commands_pkey PRIMARY KEY (workspace_id, id),
  constraint agent_commands_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint agent_commands_command_check CHECK (char_length(command) <= 100 AND command ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'::text),
  constraint agent_commands_description_check CHECK (char_length(description) <= 500),
  constraint agent_commands_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 150),
  constraint agent_commands_prompt_check CHECK (char_length(prompt) >= 1 AND char_length(prompt) <= 10000),
  constraint agent_commands_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text])),
  constraint agent_commands_usage_count_check CHECK (usage_count >= 0)
);
CREATE UNIQUE INDEX agent_commands_name_key ON public.agent_commands USING btree (workspace_id, agent_id, name) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX agent_commands_slug_key ON public.agent_commands USING btree (workspace_id, agent_id, command) WHERE (deleted_at IS NULL);
alter table agent_commands enable and force row level security;
create policy every_workspace on agent_commands as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on agent_commands as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table agent_links (
  workspace_id uuid not null,
  agent_id uuid not null,
  kind text not null,
  target_id uuid not null,
  seq bigint not null generated always as identity,
  active boolean not null default true,
  requires_approval boolean not null default false,
  instance_mode text not null default 'STATIC'::text,
  description text,
  ai_model_id uuid,
  sort_order integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  constraint agent_links_key PRIMARY KEY (workspace_id, agent_id, kind, target_id),
  constraint agent_links_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint agent_links_description_check CHECK (char_length(description) >= 1 AND char_length(description) <= 500),
  constraint agent_links_instance_mode_check CHECK (instance_mode = ANY (ARRAY['STATIC'::text, 'DYNAMIC'::text])),
  constraint agent_links_kind_check CHECK (kind = ANY (ARRAY['skill'::text, 'knowledge_source'::text, 'http_tool'::text, 'external_mcp'::text, 'native_mcp'::text, 'sub_agent'::text])),
  constraint agent_links_not_to_itself CHECK (kind <> 'sub_agent'::text OR target_id <> agent_id),
  constraint agent_links_sort_order_check CHECK (sort_order >= 0)
);
CREATE INDEX agent_links_target ON public.agent_links USING btree (workspace_id, kind, target_id);
alter table agent_links enable and force row level security;
create policy every_workspace on agent_links as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on agent_links as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table agent_variables (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  name text not null,
  label text not null,
  description text,
  type text not null,
  required boolean not null default false,
  default_value jsonb,
  options jsonb,
  multi_choice_separator text,
  boolean_text_when_true text,
  boolean_text_when_false text,
  sort_order integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint agent_variables_pkey PRIMARY KEY (workspace_id, id),
  constraint agent_variables_name_key UNIQUE (workspace_id, agent_id, name),
  constraint agent_variables_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint agent_variables_description_check CHECK (char_length(description) <= 500),
  constraint agent_variables_label_check CHECK (char_length(label) <= 200),
  constraint agent_variables_multi_choice_separator_check CHECK (char_length(multi_choice_separator) <= 10),
  constraint agent_variables_name_check CHECK (name ~ '^[a-z][a-z0-9_]{0,49}$'::text),
  constraint agent_variables_options_check CHECK (jsonb_typeof(options) = 'array'::text),
  constraint agent_variables_options_with_choice CHECK ((type = ANY (ARRAY['single_choice'::text, 'multi_choice'::text])) = (options IS NOT NULL)),
  constraint agent_variables_type_check CHECK (type = ANY (ARRAY['text_short'::text, 'text_long'::text, 'number'::text, 'date'::text, 'time'::text, 'datetime'::text, 'single_choice'::text, 'multi_choice'::text, 'bool'::text]))
);
alter table agent_variables enable and force row level security;
create policy every_workspace on agent_variables as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on agent_variables as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table agent_versions (
  workspace_id uuid not null,
  agent_id uuid not null,
  version_number integer not null,
  snapshot jsonb not null,
  notes text,
  created_at timestamp(3) with time zone not null default now(),
  constraint agent_versions_pkey PRIMARY KEY (workspace_id, agent_id, version_number),
  constraint agent_versions_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint agent_versions_notes_check CHECK (char_length(notes) <= 500),
  constraint agent_versions_snapshot_check CHECK (jsonb_typeof(snapshot) = 'object'::text),
  constraint agent_versions_version_number_check CHECK (version_number >= 1)
);
alter table agent_versions enable and force row level security;
create policy every_workspace on agent_versions as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on agent_versions as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table agents (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  avatar_url text,
  categories text[] not null default '{}'::text[],
  status text not null default 'draft'::text,
  draft_version_number integer default 1,
  published_version_number integer,
  draft_digest text not null default ''::text,
  published_digest text,
  ai_model_id uuid,
  system_prompt text,
  temperature double precision,
  thinking_enabled boolean not null default false,
  thinking_effort text,
  dynamic_prompt_enabled boolean not null default false,
  audio_listening_enabled boolean not null default false,
  audio_response_enabled boolean not null default false,
  tts_voice text,
  follow_up_enabled boolean not null default false,
  follow_up_after_hours integer,
  follow_up_inactivity_minutes integer,
  follow_up_interval_minutes integer,
  follow_up_max_attempts integer,
  follow_up_business_hours_start time(0) without time zone,
  follow_up_business_hours_end time(0) without time zone,
  follow_up_prompt text,
  genui_enabled boolean not null default false,
  long_term_memory_enabled boolean not null default false,
  memory_custom_instructions text,
  message_delay_enabled boolean not null default false,
  message_delay_type text,
  message_splitting_enabled boolean not null default false,
  sandbox_enabled boolean not null default false,
  web_search_enabled boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  approvals_by text,
  constraint agents_pkey PRIMARY KEY (workspace_id, id),
  constraint agents_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint agents_approvals_by_check CHECK (approvals_by = ANY (ARRAY['user'::text, 'operator'::text])),
  constraint agents_archived_has_no_draft CHECK ((status = 'archived'::text) = (draft_version_number IS NULL)),
  constraint agents_avatar_url_check CHECK (char_length(avatar_url) <= 1024),
  constraint agents_categories_check CHECK (cardinality(categories) <= 10),
  constraint agents_description_check CHECK (char_length(description) <= 2000),
  constraint agents_draft_version_number_check CHECK (draft_version_number >= 1),
  constraint agents_follow_up_after_hours_check CHECK (follow_up_after_hours >= 0 AND follow_up_after_hours <= 720),
  constraint agents_follow_up_inactivity_minutes_check CHECK (follow_up_inactivity_minutes >= 1 AND follow_up_inactivity_minutes <= 1440),
  constraint agents_follow_up_interval_minutes_check CHECK (follow_up_interval_minutes >= 1 AND follow_up_interval_minutes <= 10080),
  constraint agents_follow_up_max_attempts_check CHECK (follow_up_max_attempts >= 1 AND follow_up_max_attempts <= 10),
  constraint agents_message_delay_type_check CHECK (message_delay_type = ANY (ARRAY['LOW'::text, 'MEDIUM'::text, 'HIGH'::text, 'RANDOM'::text])),
  constraint agents_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 150),
  constraint agents_published_version_number_check CHECK (published_version_number >= 1),
  constraint agents_status_check CHECK (status = ANY (ARRAY['draft'::text, 'active'::text, 'inactive'::text, 'archived'::text])),
  constraint agents_system_prompt_check CHECK (char_length(system_prompt) <= 200000),
  constraint agents_temperature_check CHECK (temperature >= 0::double precision AND temperature <= 2::double precision),
  constraint agents_thinking_effort_check CHECK (thinking_effort = ANY (ARRAY['low'::text, 'medium'::text, 'high'::text]))
);
CREATE INDEX agents_list ON public.agents USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX agents_name_key ON public.agents USING btree (workspace_id, name) WHERE (deleted_at IS NULL);
alter table agents enable and force row level security;
create policy every_workspace on agents as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on agents as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table ai_models (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  provider text not null,
  model_id text not null,
  display_provider text not null,
  description text,
  icon_url text,
  context_window integer not null,
  input_cost_per_1m_tokens numeric(14,6) not null,
  output_cost_per_1m_tokens numeric(14,6) not null,
  min_temperature double precision,
  max_temperature double precision,
  supports_temperature boolean not null default true,
  supports_image boolean not null default false,
  supports_document boolean not null default false,
  supports_thinking boolean not null default false,
  active boolean not null default true,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint ai_models_pkey PRIMARY KEY (workspace_id, id),
  constraint ai_models_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint ai_models_check CHECK (NOT supports_temperature OR min_temperature IS NOT NULL AND max_temperature IS NOT NULL),
  constraint ai_models_check1 CHECK (min_temperature <= max_temperature),
  constraint ai_models_context_window_check CHECK (context_window > 0),
  constraint ai_models_input_cost_per_1m_tokens_check CHECK (input_cost_per_1m_tokens >= 0::numeric),
  constraint ai_models_model_id_check CHECK (char_length(model_id) >= 1 AND char_length(model_id) <= 200),
  constraint ai_models_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint ai_models_output_cost_per_1m_tokens_check CHECK (output_cost_per_1m_tokens >= 0::numeric),
  constraint ai_models_provider_check CHECK (char_length(provider) >= 1 AND char_length(provider) <= 100)
);
CREATE UNIQUE INDEX ai_models_model_key ON public.ai_models USING btree (workspace_id, provider, model_id) WHERE (deleted_at IS NULL);
alter table ai_models enable and force row level security;
create policy every_workspace on ai_models as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on ai_models as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table api_keys (
  id uuid not null,
  workspace_id uuid not null,
  name text not null,
  key_hash bytea not null,
  display text not null,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_key_hash_key UNIQUE (key_hash),
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_keys_display_check CHECK (char_length(display) <= 20),
  constraint api_keys_key_hash_check CHECK (octet_length(key_hash) = 32),
  constraint api_keys_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
CREATE INDEX api_keys_workspace ON public.api_keys USING btree (workspace_id, created_at DESC);
alter table api_keys enable and force row level security;
create policy every_workspace on api_keys as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());

create table approvals (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  turn_id uuid not null,
  agent_id uuid not null,
  tool_name text not null,
  origin jsonb not null,
  input jsonb not null,
  status text not null default 'pending'::text,
  requested_at timestamp(3) with time zone not null default now(),
  decided_at timestamp(3) with time zone,
  decided_by text,
  output text,
  is_error boolean,
  constraint approvals_pkey PRIMARY KEY (workspace_id, id),
  constraint approvals_turn_fkey FOREIGN KEY (workspace_id, turn_id) REFERENCES turns(workspace_id, id) ON DELETE CASCADE,
  constraint approvals_decided CHECK ((status = 'pending'::text) = (decided_at IS NULL) AND (decided_at IS NULL) = (decided_by IS NULL)),
  constraint approvals_decided_by_check CHECK (decided_by = ANY (ARRAY['message'::text, 'operator'::text, 'user'::text])),
  constraint approvals_input_check CHECK (jsonb_typeof(input) = 'object'::text),
  constraint approvals_origin_check CHECK (jsonb_typeof(origin) = 'object'::text),
  constraint approvals_outcome CHECK ((status = 'done'::text) = (output IS NOT NULL) AND (output IS NULL) = (is_error IS NULL)),
  constraint approvals_status_check CHECK (status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'running'::text, 'done'::text]))
);
CREATE INDEX approvals_by_id ON public.approvals USING btree (id);
CREATE INDEX approvals_of_conversation ON public.approvals USING btree (workspace_id, conversation_id, requested_at);
CREATE INDEX approvals_of_turn ON public.approvals USING btree (workspace_id, turn_id);
CREATE INDEX approvals_pending ON public.approvals USING btree (workspace_id, requested_at) WHERE (status = 'pending'::text);
CREATE INDEX approvals_to_follow ON public.approvals USING btree (decided_at) WHERE ((status = 'approved'::text) OR (decided_by = ANY (ARRAY['operator'::text, 'user'::text])));
alter table approvals enable and force row level security;
create policy every_workspace on approvals as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on approvals as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table automation_executions (
  workspace_id uuid not null,
  id uuid not null,
  automation_id uuid not null,
  slot timestamp(3) with time zone,
  request_key bytea,
  triggered_by text not null,
  status text not null default 'DISPATCHED'::text,
  is_skipped boolean not null default false,
  event jsonb,
  conversation_id uuid not null,
  attempts integer not null default 0,
  retry_at timestamp(3) with time zone,
  error_code text,
  error_message text,
  started_at timestamp(3) with time zone not null default now(),
  begun_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  taken_until timestamp(3) with time zone,
  constraint automation_executions_pkey PRIMARY KEY (workspace_id, id),
  constraint automation_executions_automation_fkey FOREIGN KEY (workspace_id, automation_id) REFERENCES automations(workspace_id, id) ON DELETE CASCADE,
  constraint automation_executions_attempts_check CHECK (attempts >= 0),
  constraint automation_executions_end CHECK ((status = ANY (ARRAY['COMPLETED'::text, 'FAILED'::text])) = (completed_at IS NOT NULL)),
  constraint automation_executions_event_check CHECK (jsonb_typeof(event) = 'object'::text),
  constraint automation_executions_request_key_check CHECK (octet_length(request_key) = 32),
  constraint automation_executions_skipped CHECK (NOT is_skipped OR status = 'FAILED'::text),
  constraint automation_executions_status_check CHECK (status = ANY (ARRAY['DISPATCHED'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text])),
  constraint automation_executions_triggered_by_check CHECK (char_length(triggered_by) >= 1 AND char_length(triggered_by) <= 250)
);
CREATE INDEX automation_executions_conversation ON public.automation_executions USING btree (workspace_id, conversation_id);
CREATE INDEX automation_executions_ended ON public.automation_executions USING btree (completed_at) WHERE (completed_at IS NOT NULL);
CREATE INDEX automation_executions_list ON public.automation_executions USING btree (workspace_id, automation_id, started_at DESC, id DESC);
CREATE INDEX automation_executions_open ON public.automation_executions USING btree (status, started_at) WHERE (status = ANY (ARRAY['DISPATCHED'::text, 'RUNNING'::text]));
CREATE UNIQUE INDEX automation_executions_request_key ON public.automation_executions USING btree (workspace_id, automation_id, request_key) WHERE (request_key IS NOT NULL);
CREATE INDEX automation_executions_retry ON public.automation_executions USING btree (retry_at) WHERE (retry_at IS NOT NULL);
CREATE UNIQUE INDEX automation_executions_slot_key ON public.automation_executions USING btree (workspace_id, automation_id, slot) WHERE (slot IS NOT NULL);
CREATE INDEX automation_executions_unended ON public.automation_executions USING btree (workspace_id, automation_id) WHERE (status = ANY (ARRAY['DISPATCHED'::text, 'RUNNING'::text]));
alter table automation_executions enable and force row level security;
create policy every_workspace on automation_executions as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on automation_executions as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table automations (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  name text not null,
  description text,
  prompt text not null,
  status text not null default 'active'::text,
  inactive_reason text,
  hitl_mode text not null,
  trigger_mode text not null,
  schedule text,
  timezone text,
  trigger_toolkit_slug text,
  trigger_slug text,
  trigger_config jsonb not null default '{}'::jsonb,
  trigger_secrets bytea,
  next_run_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone,
  last_run_at timestamp(3) with time zone,
  last_run_status text,
  failures_in_row integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  registry_trigger_id text,
  constraint automations_pkey PRIMARY KEY (workspace_id, id),
  constraint automations_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint automations_description_check CHECK (char_length(description) <= 500),
  constraint automations_due CHECK ((next_run_at IS NULL) = (due_at IS NULL) AND due_at >= next_run_at),
  constraint automations_failures_in_row_check CHECK (failures_in_row >= 0),
  constraint automations_hitl_mode_check CHECK (hitl_mode = ANY (ARRAY['auto_approve'::text, 'pause_on_approval'::text])),
  constraint automations_last_run_status_check CHECK (last_run_status = ANY (ARRAY['DISPATCHED'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text])),
  constraint automations_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 150),
  constraint automations_prompt_check CHECK (char_length(prompt) >= 1 AND char_length(prompt) <= 10000),
  constraint automations_registry_trigger_id_check CHECK (char_length(registry_trigger_id) >= 1 AND char_length(registry_trigger_id) <= 200),
  constraint automations_schedule_check CHECK (char_length(schedule) <= 100),
  constraint automations_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text])),
  constraint automations_timezone_check CHECK (char_length(timezone) <= 50),
  constraint automations_trigger_config_check CHECK (jsonb_typeof(trigger_config) = 'object'::text),
  constraint automations_trigger_mode_check CHECK (trigger_mode = ANY (ARRAY['manual'::text, 'schedule'::text, 'webhook'::text, 'webhook_url'::text]))
);
CREATE INDEX automations_due ON public.automations USING btree (due_at, workspace_id) WHERE (due_at IS NOT NULL);
CREATE INDEX automations_due_of_workspace ON public.automations USING btree (workspace_id, due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX automations_name_key ON public.automations USING btree (workspace_id, agent_id, lower(name)) WHERE (deleted_at IS NULL);
CREATE INDEX automations_of_agent ON public.automations USING btree (workspace_id, agent_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX automations_of_workspace ON public.automations USING btree (workspace_id) WHERE (deleted_at IS NULL);
CREATE INDEX automations_registry_trigger ON public.automations USING btree (registry_trigger_id) WHERE (registry_trigger_id IS NOT NULL);
alter table automations enable and force row level security;
create policy every_workspace on automations as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on automations as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table budgets (
  workspace_id uuid not null,
  id uuid not null,
  scope text not null,
  target text not null,
  unit text not null,
  amount numeric(20,10) not null,
  month date not null,
  used numeric(20,10) not null default 0,
  reserved numeric(20,10) not null default 0,
  estimate numeric(20,10) not null,
  created_at timestamp(3) with time zone not null,
  constraint budgets_pkey PRIMARY KEY (workspace_id, id),
  constraint budgets_amount_check CHECK (amount >= 0::numeric),
  constraint budgets_estimate_check CHECK (estimate > 0::numeric),
  constraint budgets_quota CHECK (scope <> 'workspace'::text OR unit = 'usd'::text),
  constraint budgets_reserved_check CHECK (reserved >= 0::numeric),
  constraint budgets_scope_check CHECK (scope = ANY (ARRAY['workspace'::text, 'agent'::text, 'client'::text, 'end_user'::text])),
  constraint budgets_target_check CHECK (char_length(target) >= 1 AND char_length(target) <= 300),
  constraint budgets_unit_check CHECK (unit = ANY (ARRAY['operations'::text, 'usd'::text]))
);
CREATE UNIQUE INDEX budgets_target_key ON public.budgets USING btree (workspace_id, scope, target, unit);
alter table budgets enable and force row level security;
create policy every_workspace on budgets as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on budgets as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table channel_connections (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  channel_type text not null,
  is_active boolean not null default true,
  is_configured boolean not null default false,
  instance_mode text not null default 'STATIC'::text,
  config jsonb not null default '{}'::jsonb,
  credentials bytea,
  provider_account text,
  last_inbound_at timestamp(3) with time zone,
  problem_code text,
  problem_message text,
  problem_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint channel_connections_pkey PRIMARY KEY (workspace_id, id),
  constraint channel_connections_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint channel_connections_channel_type_check CHECK (channel_type = ANY (ARRAY['whatsapp'::text, 'z_api'::text, 'web_chat'::text])),
  constraint channel_connections_config_check CHECK (jsonb_typeof(config) = 'object'::text),
  constraint channel_connections_instance_mode_check CHECK (instance_mode = ANY (ARRAY['STATIC'::text, 'DYNAMIC'::text])),
  constraint channel_connections_problem CHECK ((problem_code IS NULL) = (problem_at IS NULL)),
  constraint channel_connections_provider_account_check CHECK (char_length(provider_account) >= 1 AND char_length(provider_account) <= 200)
);
CREATE UNIQUE INDEX channel_connections_account_key ON public.channel_connections USING btree (workspace_id, channel_type, provider_account) WHERE ((deleted_at IS NULL) AND (provider_account IS NOT NULL));
CREATE INDEX channel_connections_heard ON public.channel_connections USING btree (COALESCE(last_inbound_at, updated_at)) WHERE ((deleted_at IS NULL) AND is_active AND is_configured AND (channel_type <> 'web_chat'::text) AND (problem_code IS NULL));
CREATE INDEX channel_connections_problems ON public.channel_connections USING btree (channel_type, problem_code) WHERE ((deleted_at IS NULL) AND (problem_code IS NOT NULL));
CREATE UNIQUE INDEX channel_connections_type_key ON public.channel_connections USING btree (workspace_id, agent_id, channel_type) WHERE (deleted_at IS NULL);
alter table channel_connections enable and force row level security;
create policy every_workspace on channel_connections as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on channel_connections as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table channel_identities (
  workspace_id uuid not null,
  connection_id uuid not null,
  kind text not null,
  value text not null,
  end_user_id uuid not null,
  seen_at timestamp(3) with time zone not null default now(),
  constraint channel_identities_pkey PRIMARY KEY (workspace_id, connection_id, kind, value),
  constraint channel_identities_end_user_fkey FOREIGN KEY (workspace_id, end_user_id) REFERENCES end_users(workspace_id, id) ON DELETE CASCADE,
  constraint channel_identities_kind_check CHECK (kind = ANY (ARRAY['wa_id'::text, 'bsuid'::text, 'lid'::text, 'phone'::text, 'visitor'::text])),
  constraint channel_identities_value_check CHECK (char_length(value) >= 1 AND char_length(value) <= 255)
);
CREATE INDEX channel_identities_of_user ON public.channel_identities USING btree (workspace_id, end_user_id);
alter table channel_identities enable and force row level security;
create policy every_workspace on channel_identities as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on channel_identities as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table chat_files (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  visitor text not null,
  filename text not null,
  media_type text not null,
  size_bytes integer not null,
  sha256 text not null,
  is_sent boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  constraint chat_files_pkey PRIMARY KEY (workspace_id, id),
  constraint chat_files_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id) ON DELETE CASCADE,
  constraint chat_files_filename_check CHECK (char_length(filename) >= 1 AND char_length(filename) <= 255),
  constraint chat_files_media_type_check CHECK (char_length(media_type) <= 255),
  constraint chat_files_sha256_check CHECK (char_length(sha256) = 64),
  constraint chat_files_size_bytes_check CHECK (size_bytes > 0),
  constraint chat_files_visitor_check CHECK (char_length(visitor) >= 1 AND char_length(visitor) <= 255)
);
CREATE INDEX chat_files_of_visitor ON public.chat_files USING btree (workspace_id, connection_id, visitor, sha256);
CREATE INDEX chat_files_unsent ON public.chat_files USING btree (created_at) WHERE (NOT is_sent);
alter table chat_files enable and force row level security;
create policy every_workspace on chat_files as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on chat_files as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table chat_usage (
  workspace_id uuid not null,
  connection_id uuid not null,
  day date not null,
  subject bytea not null,
  messages integer not null default 0,
  constraint chat_usage_pkey PRIMARY KEY (workspace_id, connection_id, day, subject),
  constraint chat_usage_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id) ON DELETE CASCADE,
  constraint chat_usage_messages_check CHECK (messages >= 0),
  constraint chat_usage_subject_check CHECK (octet_length(subject) = 32)
);
CREATE INDEX chat_usage_day ON public.chat_usage USING btree (day);
alter table chat_usage enable and force row level security;
create policy every_workspace on chat_usage as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on chat_usage as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table checkouts (
  workspace_id uuid not null,
  id uuid not null,
  plan_id uuid not null,
  client_id uuid,
  coupon_id uuid,
  kind text not null,
  email text not null,
  name text not null,
  workspace_name text not null,
  status text not null default 'open'::text,
  credits bigint,
  amount_cents bigint not null,
  provider_session_id text,
  provider_session_url text,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  is_of_stranger boolean not null default false,
  constraint checkouts_pkey PRIMARY KEY (workspace_id, id),
  constraint checkouts_client_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES clients(workspace_id, id),
  constraint checkouts_coupon_fkey FOREIGN KEY (workspace_id, coupon_id) REFERENCES coupons(workspace_id, id),
  constraint checkouts_plan_fkey FOREIGN KEY (workspace_id, plan_id) REFERENCES plans(workspace_id, id),
  constraint checkouts_amount_cents_check CHECK (amount_cents >= 0),
  constraint checkouts_credits_check CHECK (credits >= 1),
  constraint checkouts_email_check CHECK (char_length(email) >= 3 AND char_length(email) <= 320),
  constraint checkouts_kind_check CHECK (kind = ANY (ARRAY['plan'::text, 'extra_credits'::text])),
  constraint checkouts_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 255),
  constraint checkouts_provider_session_url_check CHECK (char_length(provider_session_url) <= 5000),
  constraint checkouts_status_check CHECK (status = ANY (ARRAY['open'::text, 'completed'::text, 'expired'::text, 'invoice'::text])),
  constraint checkouts_workspace_name_check CHECK (char_length(workspace_name) >= 1 AND char_length(workspace_name) <= 150)
);
CREATE INDEX checkouts_client ON public.checkouts USING btree (workspace_id, client_id) WHERE (client_id IS NOT NULL);
CREATE INDEX checkouts_coupon ON public.checkouts USING btree (workspace_id, coupon_id) WHERE (coupon_id IS NOT NULL);
CREATE INDEX checkouts_of_strangers ON public.checkouts USING btree (workspace_id, created_at) INCLUDE (email) WHERE is_of_stranger;
CREATE INDEX checkouts_open ON public.checkouts USING btree (expires_at) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX checkouts_open_buyer ON public.checkouts USING btree (workspace_id, lower(email), lower(workspace_name)) WHERE ((status = 'open'::text) AND (client_id IS NULL));
CREATE UNIQUE INDEX checkouts_open_client ON public.checkouts USING btree (workspace_id, client_id) WHERE ((status = 'open'::text) AND (kind = 'plan'::text) AND (client_id IS NOT NULL));
CREATE INDEX checkouts_plan ON public.checkouts USING btree (workspace_id, plan_id);
CREATE UNIQUE INDEX checkouts_session_key ON public.checkouts USING btree (workspace_id, provider_session_id) WHERE (provider_session_id IS NOT NULL);
alter table checkouts enable and force row level security;
create policy every_workspace on checkouts as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on checkouts as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table client_changes (
  workspace_id uuid not null,
  client_id uuid not null,
  key text not null,
  kind text not null,
  status_before text not null,
  status_after text not null,
  plan_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  constraint client_changes_pkey PRIMARY KEY (workspace_id, client_id, key),
  constraint client_changes_client_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES clients(workspace_id, id) ON DELETE CASCADE,
  constraint client_changes_key_check CHECK (char_length(key) >= 1 AND char_length(key) <= 300)
);
CREATE INDEX client_changes_list ON public.client_changes USING btree (workspace_id, client_id, created_at);
alter table client_changes enable and force row level security;
create policy every_workspace on client_changes as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on client_changes as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table client_invitations (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  user_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  accepted_at timestamp(3) with time zone,
  constraint client_invitations_pkey PRIMARY KEY (workspace_id, id),
  constraint client_invitations_client_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES clients(workspace_id, id) ON DELETE CASCADE,
  constraint client_invitations_user_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES client_users(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX client_invitations_client ON public.client_invitations USING btree (workspace_id, client_id);
CREATE UNIQUE INDEX client_invitations_user_key ON public.client_invitations USING btree (workspace_id, user_id);
alter table client_invitations enable and force row level security;
create policy every_workspace on client_invitations as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on client_invitations as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table client_tokens (
  workspace_id uuid not null,
  token_hash bytea not null,
  user_id uuid not null,
  kind text not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  constraint client_tokens_pkey PRIMARY KEY (workspace_id, token_hash),
  constraint client_tokens_user_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES client_users(workspace_id, id) ON DELETE CASCADE,
  constraint client_tokens_kind_check CHECK (kind = ANY (ARRAY['invitation'::text, 'sign_in'::text, 'session'::text])),
  constraint client_tokens_token_hash_check CHECK (octet_length(token_hash) = 32)
);
CREATE INDEX client_tokens_expired ON public.client_tokens USING btree (expires_at);
CREATE INDEX client_tokens_user ON public.client_tokens USING btree (workspace_id, user_id, kind);
alter table client_tokens enable and force row level security;
create policy every_workspace on client_tokens as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on client_tokens as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table client_users (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  email text not null,
  name text not null,
  role text not null,
  onboarded_at timestamp(3) with time zone,
  last_seen_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint client_users_pkey PRIMARY KEY (workspace_id, id),
  constraint client_users_client_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES clients(workspace_id, id) ON DELETE CASCADE,
  constraint client_users_email_check CHECK (char_length(email) >= 3 AND char_length(email) <= 320),
  constraint client_users_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 255),
  constraint client_users_role_check CHECK (role = ANY (ARRAY['admin'::text, 'member'::text, 'editor'::text, 'viewer'::text]))
);
CREATE UNIQUE INDEX client_users_email_key ON public.client_users USING btree (workspace_id, client_id, lower(email)) WHERE (deleted_at IS NULL);
CREATE INDEX client_users_sign_in ON public.client_users USING btree (workspace_id, lower(email)) WHERE (deleted_at IS NULL);
alter table client_users enable and force row level security;
create policy every_workspace on client_users as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on client_users as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table clients (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  status text not null,
  plan_id uuid,
  period_start timestamp(3) with time zone,
  period_end timestamp(3) with time zone,
  billing_anchor timestamp(3) with time zone,
  next_credit_renewal_at timestamp(3) with time zone,
  pending_plan_id uuid,
  pending_plan_at timestamp(3) with time zone,
  coupon_id uuid,
  coupon_ends_at timestamp(3) with time zone,
  suspension_code text,
  suspension_reason text,
  suspended_at timestamp(3) with time zone,
  provider_customer_id text,
  provider_subscription_id text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone generated always as (
CASE
    WHEN ((deleted_at IS NULL) AND (status = ANY (ARRAY['active'::text, 'trialing'::text]))) THEN LEAST(
    CASE
        WHEN (provider_subscription_id IS NULL) THEN period_end
        ELSE NULL::timestamp with time zone
    END,
    CASE
        WHEN (next_credit_renewal_at < COALESCE(period_end, 'infinity'::timestamp with time zone)) THEN next_credit_renewal_at
        ELSE NULL::timestamp with time zone
    END)
    ELSE NULL::timestamp with time zone
END) stored,
  constraint clients_pkey PRIMARY KEY (workspace_id, id),
  constraint clients_coupon_fkey FOREIGN KEY (workspace_id, coupon_id) REFERENCES coupons(workspace_id, id),
  constraint clients_pending_plan_fkey FOREIGN KEY (workspace_id, pending_plan_id) REFERENCES plans(workspace_id, id),
  constraint clients_plan_fkey FOREIGN KEY (workspace_id, plan_id) REFERENCES plans(workspace_id, id),
  constraint clients_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 150),
  constraint clients_pending_plan CHECK ((pending_plan_id IS NULL) = (pending_plan_at IS NULL)),
  constraint clients_period CHECK (period_end > period_start),
  constraint clients_status_check CHECK (status = ANY (ARRAY['active'::text, 'past_due'::text, 'canceled'::text, 'trialing'::text, 'pending_onboarding'::text, 'suspended'::text])),
  constraint clients_suspension_code_check CHECK (suspension_code = ANY (ARRAY['customer_request'::text, 'payment_failed'::text, 'switching_provider'::text, 'not_needed'::text, 'price'::text, 'feature_missing'::text, 'other'::text])),
  constraint clients_suspension_reason_check CHECK (char_length(suspension_reason) <= 500)
);
CREATE INDEX clients_coupon ON public.clients USING btree (workspace_id, coupon_id) WHERE (coupon_id IS NOT NULL);
CREATE INDEX clients_due ON public.clients USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX clients_list ON public.clients USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX clients_name_key ON public.clients USING btree (workspace_id, lower(name)) WHERE (deleted_at IS NULL);
CREATE INDEX clients_pending_plan ON public.clients USING btree (workspace_id, pending_plan_id) WHERE (pending_plan_id IS NOT NULL);
CREATE INDEX clients_plan ON public.clients USING btree (workspace_id, plan_id) WHERE (plan_id IS NOT NULL);
CREATE UNIQUE INDEX clients_subscription_key ON public.clients USING btree (workspace_id, provider_subscription_id) WHERE (provider_subscription_id IS NOT NULL);
alter table clients enable and force row level security;
create policy every_workspace on clients as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on clients as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table conversations (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  external_user_id text not null,
  channel text not null default 'api'::text,
  is_test boolean not null default false,
  is_paused boolean not null default false,
  is_ended boolean not null default false,
  metadata jsonb not null default '{}'::jsonb,
  message_count bigint not null default 0,
  started_at timestamp(3) with time zone not null default now(),
  last_message_at timestamp(3) with time zone not null default now(),
  last_message_snippet text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric(18,10) not null default 0,
  turn_id uuid,
  turn_expires_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  follow_up_at timestamp(3) with time zone,
  follow_ups_sent integer not null default 0,
  connection_id uuid,
  end_user_id uuid,
  paused_by text,
  paused_until timestamp(3) with time zone,
  last_inbound_at timestamp(3) with time zone,
  client_id uuid,
  client_user_id uuid,
  turn_attempt integer not null default 1,
  constraint conversations_pkey PRIMARY KEY (workspace_id, id),
  constraint conversations_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint conversations_client_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES clients(workspace_id, id),
  constraint conversations_client_user_fkey FOREIGN KEY (workspace_id, client_user_id) REFERENCES client_users(workspace_id, id),
  constraint conversations_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id),
  constraint conversations_end_user_fkey FOREIGN KEY (workspace_id, end_user_id) REFERENCES end_users(workspace_id, id),
  constraint conversations_channel_check CHECK (channel = ANY (ARRAY['api'::text, 'web_chat'::text, 'whatsapp'::text, 'z_api'::text])),
  constraint conversations_external_user_id_check CHECK (char_length(external_user_id) >= 1 AND char_length(external_user_id) <= 255),
  constraint conversations_follow_ups_sent_check CHECK (follow_ups_sent >= 0),
  constraint conversations_message_count_check CHECK (message_count >= 0),
  constraint conversations_metadata_check CHECK (jsonb_typeof(metadata) = 'object'::text),
  constraint conversations_paused_by_check CHECK (paused_by = ANY (ARRAY['agent'::text, 'operator'::text, 'person'::text, 'user'::text])),
  constraint conversations_paused_until CHECK (is_paused OR paused_until IS NULL),
  constraint conversations_turn_has_an_end CHECK ((turn_id IS NULL) = (turn_expires_at IS NULL))
);
CREATE INDEX conversations_follow_up ON public.conversations USING btree (follow_up_at) WHERE ((follow_up_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX conversations_held ON public.conversations USING btree (workspace_id, id) WHERE (turn_id IS NOT NULL);
CREATE INDEX conversations_last_message ON public.conversations USING btree (workspace_id, last_message_at DESC) WHERE (deleted_at IS NULL);
CREATE INDEX conversations_list ON public.conversations USING btree (workspace_id, started_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX conversations_of_agent ON public.conversations USING btree (workspace_id, agent_id, started_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX conversations_of_client ON public.conversations USING btree (workspace_id, client_id) INCLUDE (cost_usd) WHERE (client_id IS NOT NULL);
CREATE INDEX conversations_of_client_user ON public.conversations USING btree (workspace_id, client_user_id) WHERE (client_user_id IS NOT NULL);
CREATE INDEX conversations_of_end_user ON public.conversations USING btree (workspace_id, end_user_id) WHERE (end_user_id IS NOT NULL);
CREATE INDEX conversations_of_user ON public.conversations USING btree (workspace_id, external_user_id, started_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX conversations_open_of_connection ON public.conversations USING btree (workspace_id, connection_id) WHERE ((connection_id IS NOT NULL) AND (NOT is_ended));
CREATE INDEX conversations_resume ON public.conversations USING btree (paused_until) WHERE (paused_until IS NOT NULL);
alter table conversations enable and force row level security;
create policy every_workspace on conversations as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on conversations as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table coupon_plans (
  workspace_id uuid not null,
  coupon_id uuid not null,
  plan_id uuid not null,
  place integer not null,
  constraint coupon_plans_pkey PRIMARY KEY (workspace_id, coupon_id, plan_id),
  constraint coupon_plans_coupon_fkey FOREIGN KEY (workspace_id, coupon_id) REFERENCES coupons(workspace_id, id) ON DELETE CASCADE,
  constraint coupon_plans_plan_fkey FOREIGN KEY (workspace_id, plan_id) REFERENCES plans(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX coupon_plans_plan ON public.coupon_plans USING btree (workspace_id, plan_id);
alter table coupon_plans enable and force row level security;
create policy every_workspace on coupon_plans as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on coupon_plans as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table coupons (
  workspace_id uuid not null,
  id uuid not null,
  code text not null,
  name text,
  active boolean not null default true,
  discount_type text not null,
  discount_value integer not null,
  currency text,
  duration text not null,
  duration_months integer,
  scope text not null,
  max_uses integer,
  times_used integer not null default 0,
  valid_from timestamp(3) with time zone not null,
  valid_until timestamp(3) with time zone,
  provider_coupon_id text,
  provider_promotion_code_id text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint coupons_pkey PRIMARY KEY (workspace_id, id),
  constraint coupons_code_check CHECK (code ~ '^[A-Za-z0-9_]{3,50}$'::text),
  constraint coupons_currency CHECK ((discount_type = 'fixed_amount'::text) = (currency IS NOT NULL)),
  constraint coupons_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint coupons_discount_type_check CHECK (discount_type = ANY (ARRAY['percentage'::text, 'fixed_amount'::text])),
  constraint coupons_discount_value_check CHECK (discount_value >= 1),
  constraint coupons_duration CHECK ((duration = 'repeating'::text) = (duration_months IS NOT NULL)),
  constraint coupons_duration_check CHECK (duration = ANY (ARRAY['once'::text, 'repeating'::text, 'forever'::text])),
  constraint coupons_duration_months_check CHECK (duration_months >= 1 AND duration_months <= 36),
  constraint coupons_max_uses_check CHECK (max_uses >= 1),
  constraint coupons_name_check CHECK (char_length(name) <= 100),
  constraint coupons_percentage CHECK (discount_type <> 'percentage'::text OR discount_value <= 100),
  constraint coupons_scope_check CHECK (scope = ANY (ARRAY['hub'::text, 'plans'::text])),
  constraint coupons_times_used_check CHECK (times_used >= 0),
  constraint coupons_uses CHECK (times_used <= max_uses)
);
CREATE UNIQUE INDEX coupons_code_key ON public.coupons USING btree (workspace_id, lower(code)) WHERE (deleted_at IS NULL);
CREATE INDEX coupons_list ON public.coupons USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
alter table coupons enable and force row level security;
create policy every_workspace on coupons as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on coupons as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table credit_accounts (
  workspace_id uuid not null,
  client_id uuid not null,
  included bigint not null default 0,
  extra bigint not null default 0,
  reserved bigint not null default 0,
  is_unlimited boolean not null default false,
  may_use_extra boolean not null default false,
  used_this_period bigint not null default 0,
  usage_period integer not null default 0,
  constraint credit_accounts_pkey PRIMARY KEY (workspace_id, client_id),
  constraint credit_accounts_client_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES clients(workspace_id, id),
  constraint credit_accounts_reserved_check CHECK (reserved >= 0)
);
alter table credit_accounts enable and force row level security;
create policy every_workspace on credit_accounts as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on credit_accounts as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table credit_entries (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  lot_id uuid,
  key text not null,
  kind text not null,
  amount bigint not null,
  usage_period integer,
  turn_id uuid,
  message_id uuid,
  note text,
  created_at timestamp(3) with time zone not null,
  constraint credit_entries_pkey PRIMARY KEY (workspace_id, id),
  constraint credit_entries_account_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES credit_accounts(workspace_id, client_id),
  constraint credit_entries_lot_fkey FOREIGN KEY (workspace_id, lot_id) REFERENCES credit_lots(workspace_id, id),
  constraint credit_entries_key_check CHECK (char_length(key) >= 1 AND char_length(key) <= 300),
  constraint credit_entries_kind_check CHECK (kind = ANY (ARRAY['grant'::text, 'use'::text, 'expiry'::text, 'reversal'::text, 'correction'::text])),
  constraint credit_entries_note_check CHECK (char_length(note) <= 500),
  constraint credit_entries_use CHECK ((kind = 'use'::text) = (usage_period IS NOT NULL))
);
CREATE UNIQUE INDEX credit_entries_key ON public.credit_entries USING btree (workspace_id, client_id, key, kind, lot_id) NULLS NOT DISTINCT;
CREATE INDEX credit_entries_list ON public.credit_entries USING btree (workspace_id, client_id, created_at, id);
CREATE INDEX credit_entries_lot ON public.credit_entries USING btree (workspace_id, lot_id);
alter table credit_entries enable and force row level security;
create policy every_workspace on credit_entries as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on credit_entries as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table credit_lots (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  source text not null,
  grant_key text not null,
  amount bigint not null,
  remaining bigint not null,
  priority smallint not null,
  granted_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  constraint credit_lots_pkey PRIMARY KEY (workspace_id, id),
  constraint credit_lots_account_fkey FOREIGN KEY (workspace_id, client_id) REFERENCES credit_accounts(workspace_id, client_id),
  constraint credit_lots_amount_check CHECK (amount >= 1),
  constraint credit_lots_closed CHECK (closed_at IS NULL OR remaining = 0),
  constraint credit_lots_grant_key_check CHECK (char_length(grant_key) >= 1 AND char_length(grant_key) <= 300),
  constraint credit_lots_remaining CHECK (remaining <= amount),
  constraint credit_lots_source_check CHECK (source = ANY (ARRAY['plan'::text, 'package'::text, 'extra'::text, 'grant'::text]))
);
CREATE INDEX credit_lots_expiring ON public.credit_lots USING btree (expires_at) WHERE ((closed_at IS NULL) AND (expires_at IS NOT NULL) AND (source = ANY (ARRAY['grant'::text, 'extra'::text])));
CREATE UNIQUE INDEX credit_lots_grant_key ON public.credit_lots USING btree (workspace_id, client_id, grant_key, source);
CREATE INDEX credit_lots_open ON public.credit_lots USING btree (workspace_id, client_id) WHERE (closed_at IS NULL);
alter table credit_lots enable and force row level security;
create policy every_workspace on credit_lots as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on credit_lots as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table credit_packages (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  credit_value_cents integer not null,
  credits_amount integer not null,
  extra_credits_amount integer,
  renewal_interval_months integer,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint credit_packages_pkey PRIMARY KEY (workspace_id, id),
  constraint credit_packages_credit_value_cents_check CHECK (credit_value_cents >= 1),
  constraint credit_packages_credits_amount_check CHECK (credits_amount >= 1),
  constraint credit_packages_extra_credits_amount_check CHECK (extra_credits_amount >= 1),
  constraint credit_packages_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 100),
  constraint credit_packages_renewal_interval_months_check CHECK (renewal_interval_months >= 1)
);
CREATE INDEX credit_packages_list ON public.credit_packages USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX credit_packages_name_key ON public.credit_packages USING btree (workspace_id, lower(name)) WHERE (deleted_at IS NULL);
alter table credit_packages enable and force row level security;
create policy every_workspace on credit_packages as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on credit_packages as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table credit_reservations (
  workspace_id uuid not null,
  turn_id uuid not null,
  conversation_id uuid not null,
  client_id uuid,
  credits bigint not null default 0,
  budgets jsonb not null default '[]'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  constraint credit_reservations_pkey PRIMARY KEY (workspace_id, turn_id),
  constraint credit_reservations_budgets_check CHECK (jsonb_typeof(budgets) = 'array'::text),
  constraint credit_reservations_credits_check CHECK (credits >= 0)
);
CREATE INDEX credit_reservations_old ON public.credit_reservations USING btree (created_at);
alter table credit_reservations enable and force row level security;
create policy every_workspace on credit_reservations as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on credit_reservations as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table deliveries (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  conversation_id uuid not null,
  message_id uuid not null,
  place integer not null default 0,
  status text not null default 'queued'::text,
  provider_message_id text,
  attempts integer not null default 0,
  due_at timestamp(3) with time zone not null default now(),
  error_code text,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  sent_at timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone,
  read_at timestamp(3) with time zone,
  content jsonb not null default '{}'::jsonb,
  is_follow_up boolean not null default false,
  typing_ms integer not null default 0,
  constraint deliveries_pkey PRIMARY KEY (workspace_id, id),
  constraint deliveries_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id) ON DELETE CASCADE,
  constraint deliveries_message_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES messages(workspace_id, id) ON DELETE CASCADE,
  constraint deliveries_attempts_check CHECK (attempts >= 0),
  constraint deliveries_content_check CHECK (jsonb_typeof(content) = 'object'::text),
  constraint deliveries_status_check CHECK (status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'dropped'::text])),
  constraint deliveries_typing_ms_check CHECK (typing_ms >= 0)
);
CREATE INDEX deliveries_due ON public.deliveries USING btree (due_at) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text]));
CREATE UNIQUE INDEX deliveries_message_key ON public.deliveries USING btree (workspace_id, message_id, place);
CREATE INDEX deliveries_of_conversation ON public.deliveries USING btree (workspace_id, conversation_id, id) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text]));
CREATE INDEX deliveries_provider_id ON public.deliveries USING btree (workspace_id, connection_id, provider_message_id) WHERE (provider_message_id IS NOT NULL);
alter table deliveries enable and force row level security;
create policy every_workspace on deliveries as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on deliveries as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table early_receipts (
  workspace_id uuid not null,
  connection_id uuid not null,
  provider_message_id text not null,
  status text not null,
  at timestamp(3) with time zone not null,
  error_code text,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  constraint early_receipts_pkey PRIMARY KEY (workspace_id, connection_id, provider_message_id, status),
  constraint early_receipts_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id) ON DELETE CASCADE,
  constraint early_receipts_provider_message_id_check CHECK (char_length(provider_message_id) >= 1 AND char_length(provider_message_id) <= 255),
  constraint early_receipts_status_check CHECK (status = ANY (ARRAY['sent'::text, 'delivered'::text, 'read'::text, 'failed'::text]))
);
CREATE INDEX early_receipts_old ON public.early_receipts USING btree (created_at);
alter table early_receipts enable and force row level security;
create policy every_workspace on early_receipts as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on early_receipts as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table end_users (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  name text,
  created_at timestamp(3) with time zone not null default now(),
  external_user_id text not null,
  constraint end_users_pkey PRIMARY KEY (workspace_id, id),
  constraint end_users_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id) ON DELETE CASCADE,
  constraint end_users_external_user_id_check CHECK (char_length(external_user_id) >= 1 AND char_length(external_user_id) <= 255),
  constraint end_users_name_check CHECK (char_length(name) <= 255)
);
CREATE INDEX end_users_of_connection ON public.end_users USING btree (workspace_id, connection_id);
CREATE INDEX end_users_of_external_id ON public.end_users USING btree (workspace_id, external_user_id);
alter table end_users enable and force row level security;
create policy every_workspace on end_users as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on end_users as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table external_links (
  workspace_id uuid not null,
  id uuid not null,
  title text not null,
  url text not null,
  display_order integer not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint external_links_pkey PRIMARY KEY (workspace_id, id),
  constraint external_links_display_order_check CHECK (display_order >= 1),
  constraint external_links_title_check CHECK (char_length(title) >= 1 AND char_length(title) <= 100),
  constraint external_links_url_check CHECK (char_length(url) <= 2048)
);
CREATE UNIQUE INDEX external_links_title_key ON public.external_links USING btree (workspace_id, lower(title)) WHERE (deleted_at IS NULL);
alter table external_links enable and force row level security;
create policy every_workspace on external_links as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on external_links as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table external_mcps (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  url text not null,
  auth_type text not null,
  auth_header_name text,
  credential bytea,
  config_version integer not null default 1,
  status text not null default 'PENDING'::text,
  error_message text,
  description text,
  tools jsonb not null default '[]'::jsonb,
  input_schemas jsonb not null default '{}'::jsonb,
  discoveries_begun integer not null default 0,
  discovery_settled integer not null default 0,
  last_discovered_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  tools_left_out jsonb,
  constraint external_mcps_pkey PRIMARY KEY (workspace_id, id),
  constraint external_mcps_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint external_mcps_auth_header_name_check CHECK (char_length(auth_header_name) >= 1 AND char_length(auth_header_name) <= 200),
  constraint external_mcps_auth_type_check CHECK (auth_type = ANY (ARRAY['NONE'::text, 'API_KEY'::text, 'BEARER_TOKEN'::text, 'CUSTOM_HEADER'::text])),
  constraint external_mcps_check CHECK (discovery_settled <= discoveries_begun),
  constraint external_mcps_config_version_check CHECK (config_version >= 1),
  constraint external_mcps_credential CHECK ((credential IS NOT NULL) = (auth_type <> 'NONE'::text AND deleted_at IS NULL)),
  constraint external_mcps_error CHECK ((status = 'ERROR'::text) = (error_message IS NOT NULL)),
  constraint external_mcps_input_schemas_check CHECK (jsonb_typeof(input_schemas) = 'object'::text),
  constraint external_mcps_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 255),
  constraint external_mcps_one_header CHECK (auth_header_name IS NULL OR (auth_type = ANY (ARRAY['CUSTOM_HEADER'::text, 'API_KEY'::text]))),
  constraint external_mcps_status_check CHECK (status = ANY (ARRAY['PENDING'::text, 'CONNECTED'::text, 'ERROR'::text, 'PENDING_AUTHORIZATION'::text, 'EXPIRED'::text])),
  constraint external_mcps_tools_check CHECK (jsonb_typeof(tools) = 'array'::text),
  constraint external_mcps_tools_left_out_check CHECK (jsonb_typeof(tools_left_out) = 'object'::text),
  constraint external_mcps_url_check CHECK (char_length(url) >= 1 AND char_length(url) <= 2048)
);
CREATE INDEX external_mcps_list ON public.external_mcps USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX external_mcps_name_key ON public.external_mcps USING btree (workspace_id, name) WHERE (deleted_at IS NULL);
alter table external_mcps enable and force row level security;
create policy every_workspace on external_mcps as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on external_mcps as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table http_tools (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  tool_type text not null,
  requires_approval boolean not null default false,
  configuration json not null,
  secrets bytea,
  operations json,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint http_tools_pkey PRIMARY KEY (workspace_id, id),
  constraint http_tools_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint http_tools_configuration_check CHECK (json_typeof(configuration) = 'object'::text),
  constraint http_tools_description_check CHECK (char_length(description) <= 1000),
  constraint http_tools_name_check CHECK (char_length(name) <= 150 AND name ~ '^[a-zA-Z0-9_-]+$'::text),
  constraint http_tools_operations_check CHECK (json_typeof(operations) = 'array'::text),
  constraint http_tools_operations_of_integrations CHECK ((tool_type = 'CUSTOM_INTEGRATION'::text) = (operations IS NOT NULL)),
  constraint http_tools_tool_type_check CHECK (tool_type = ANY (ARRAY['HTTP_REQUEST'::text, 'DATABASE_QUERY'::text, 'INTERNAL_VARIABLE'::text, 'CUSTOM_INTEGRATION'::text]))
);
CREATE INDEX http_tools_list ON public.http_tools USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX http_tools_name_key ON public.http_tools USING btree (workspace_id, name) WHERE (deleted_at IS NULL);
alter table http_tools enable and force row level security;
create policy every_workspace on http_tools as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on http_tools as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table hub_logos (
  workspace_id uuid not null,
  key text not null,
  size_bytes bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  purge_at timestamp(3) with time zone,
  constraint hub_logos_pkey PRIMARY KEY (workspace_id, key),
  constraint hub_logos_key_check CHECK (char_length(key) >= 1 AND char_length(key) <= 200),
  constraint hub_logos_size_bytes_check CHECK (size_bytes >= 0)
);
CREATE INDEX hub_logos_purge ON public.hub_logos USING btree (purge_at) WHERE (purge_at IS NOT NULL);
alter table hub_logos enable and force row level security;
create policy every_workspace on hub_logos as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on hub_logos as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table hub_names (
  name text not null,
  workspace_id uuid not null,
  kind text not null,
  token text,
  created_at timestamp(3) with time zone not null default now(),
  verified_at timestamp(3) with time zone,
  released_at timestamp(3) with time zone,
  constraint hub_names_pkey PRIMARY KEY (name),
  constraint hub_names_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint hub_names_kind_check CHECK (kind = ANY (ARRAY['subdomain'::text, 'domain'::text])),
  constraint hub_names_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 253 AND name = lower(name)),
  constraint hub_names_token CHECK ((kind = 'domain'::text) = (token IS NOT NULL)),
  constraint hub_names_token_check CHECK (char_length(token) >= 1 AND char_length(token) <= 100)
);
CREATE INDEX hub_names_workspace ON public.hub_names USING btree (workspace_id);
alter table hub_names enable and force row level security;
create policy every_workspace on hub_names as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on hub_names as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table hub_package_agents (
  workspace_id uuid not null,
  package_id uuid not null,
  agent_id uuid not null,
  place integer not null,
  constraint hub_package_agents_pkey PRIMARY KEY (workspace_id, package_id, agent_id),
  constraint hub_package_agents_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint hub_package_agents_package_fkey FOREIGN KEY (workspace_id, package_id) REFERENCES hub_packages(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX hub_package_agents_agent ON public.hub_package_agents USING btree (workspace_id, agent_id);
alter table hub_package_agents enable and force row level security;
create policy every_workspace on hub_package_agents as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on hub_package_agents as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table hub_package_links (
  workspace_id uuid not null,
  package_id uuid not null,
  link_id uuid not null,
  place integer not null,
  constraint hub_package_links_pkey PRIMARY KEY (workspace_id, package_id, link_id),
  constraint hub_package_links_link_fkey FOREIGN KEY (workspace_id, link_id) REFERENCES external_links(workspace_id, id) ON DELETE CASCADE,
  constraint hub_package_links_package_fkey FOREIGN KEY (workspace_id, package_id) REFERENCES hub_packages(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX hub_package_links_link ON public.hub_package_links USING btree (workspace_id, link_id);
alter table hub_package_links enable and force row level security;
create policy every_workspace on hub_package_links as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on hub_package_links as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table hub_packages (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  pages text[] not null,
  section_ordering jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint hub_packages_pkey PRIMARY KEY (workspace_id, id),
  constraint hub_packages_pages_check CHECK (cardinality(pages) >= 1),
  constraint hub_packages_section_ordering_check CHECK (jsonb_typeof(section_ordering) = 'array'::text)
);
alter table hub_packages enable and force row level security;
create policy every_workspace on hub_packages as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on hub_packages as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table hubs (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  access_type text not null default 'private'::text,
  self_service_enabled boolean not null default false,
  default_plan_id uuid,
  trial_plan_id uuid,
  trial_days integer,
  subdomain text,
  locale text not null default 'en-US'::text,
  theme text not null default 'light'::text,
  primary_color text,
  secondary_color text,
  pricing_widget_color text,
  logo_horizontal_key text,
  logo_icon_key text,
  logo_email_key text,
  logo_banner_key text,
  support_channel_type text,
  support_channel_value text,
  support_email text,
  support_whatsapp_message text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  payment_mode text not null default 'invoice'::text,
  payment_account text,
  application_fee_percent numeric(5,2),
  branding_synced_at timestamp(3) with time zone,
  payments_compared_at timestamp(3) with time zone,
  constraint hubs_pkey PRIMARY KEY (workspace_id),
  constraint hubs_default_plan_fkey FOREIGN KEY (workspace_id, default_plan_id) REFERENCES plans(workspace_id, id),
  constraint hubs_trial_plan_fkey FOREIGN KEY (workspace_id, trial_plan_id) REFERENCES plans(workspace_id, id),
  constraint hubs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint hubs_access_type_check CHECK (access_type = ANY (ARRAY['public'::text, 'private'::text])),
  constraint hubs_application_fee_percent_check CHECK (application_fee_percent >= 0::numeric AND application_fee_percent <= 100::numeric),
  constraint hubs_description_check CHECK (char_length(description) <= 500),
  constraint hubs_locale_check CHECK (char_length(locale) >= 2 AND char_length(locale) <= 35),
  constraint hubs_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint hubs_payment_account CHECK ((payment_mode = 'account'::text) = (payment_account IS NOT NULL)),
  constraint hubs_payment_account_check CHECK (char_length(payment_account) >= 1 AND char_length(payment_account) <= 100),
  constraint hubs_payment_mode_check CHECK (payment_mode = ANY (ARRAY['invoice'::text, 'account'::text, 'own'::text])),
  constraint hubs_pricing_widget_color_check CHECK (pricing_widget_color ~ '^#[0-9A-Fa-f]{6}$'::text),
  constraint hubs_primary_color_check CHECK (primary_color ~ '^#[0-9A-Fa-f]{6}$'::text),
  constraint hubs_secondary_color_check CHECK (secondary_color ~ '^#[0-9A-Fa-f]{6}$'::text),
  constraint hubs_support_channel_type_check CHECK (support_channel_type = ANY (ARRAY['email'::text, 'whatsapp'::text, 'url'::text])),
  constraint hubs_support_channel_value_check CHECK (char_length(support_channel_value) <= 500),
  constraint hubs_support_email_check CHECK (char_length(support_email) <= 255),
  constraint hubs_support_whatsapp_message_check CHECK (char_length(support_whatsapp_message) <= 500),
  constraint hubs_theme_check CHECK (theme = ANY (ARRAY['light'::text, 'dark'::text])),
  constraint hubs_trial CHECK ((trial_plan_id IS NULL) = (trial_days IS NULL)),
  constraint hubs_trial_days_check CHECK (trial_days >= 1 AND trial_days <= 365)
);
CREATE INDEX hubs_default_plan ON public.hubs USING btree (workspace_id, default_plan_id) WHERE (default_plan_id IS NOT NULL);
CREATE INDEX hubs_payments_compared ON public.hubs USING btree (payments_compared_at) WHERE (payment_mode <> 'invoice'::text);
CREATE INDEX hubs_trial_plan ON public.hubs USING btree (workspace_id, trial_plan_id) WHERE (trial_plan_id IS NOT NULL);
alter table hubs enable and force row level security;
create policy every_workspace on hubs as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on hubs as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table idempotency_keys (
  workspace_id uuid not null,
  key_hash bytea not null,
  request_hash bytea not null,
  claim_id uuid,
  claimed_until timestamp(3) with time zone,
  begun jsonb,
  status integer,
  body text,
  expires_at timestamp(3) with time zone not null,
  headers jsonb,
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, key_hash),
  constraint idempotency_keys_answer CHECK ((status IS NULL) = (body IS NULL) AND (status IS NULL OR claim_id IS NULL)),
  constraint idempotency_keys_begun_check CHECK (jsonb_typeof(begun) = 'object'::text),
  constraint idempotency_keys_claim CHECK ((claim_id IS NULL) = (claimed_until IS NULL)),
  constraint idempotency_keys_headers CHECK (jsonb_typeof(headers) = 'object'::text AND octet_length(headers::text) <= 4096),
  constraint idempotency_keys_key_hash_check CHECK (octet_length(key_hash) = 32),
  constraint idempotency_keys_request_hash_check CHECK (octet_length(request_hash) = 32),
  constraint idempotency_keys_status_check CHECK (status >= 200 AND status <= 499)
);
CREATE INDEX idempotency_keys_expired ON public.idempotency_keys USING btree (expires_at);
alter table idempotency_keys enable and force row level security;
create policy every_workspace on idempotency_keys as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on idempotency_keys as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table inbound_messages (
  workspace_id uuid not null,
  connection_id uuid not null,
  provider_message_id text not null,
  id uuid not null,
  end_user_id uuid,
  conversation_id uuid,
  event jsonb not null,
  status text not null default 'received'::text,
  sent_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone not null default now(),
  attempts integer not null default 0,
  turn_id uuid,
  error_code text,
  error_message text,
  settled_at timestamp(3) with time zone,
  person_key text not null default ''::text,
  message_id uuid,
  files jsonb,
  due_at timestamp(3) with time zone not null default now(),
  constraint inbound_messages_pkey PRIMARY KEY (workspace_id, connection_id, provider_message_id),
  constraint inbound_messages_connection_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_connections(workspace_id, id) ON DELETE CASCADE,
  constraint inbound_messages_attempts_check CHECK (attempts >= 0),
  constraint inbound_messages_event_check CHECK (jsonb_typeof(event) = 'object'::text),
  constraint inbound_messages_files_check CHECK (jsonb_typeof(files) = 'array'::text),
  constraint inbound_messages_person_key_check CHECK (char_length(person_key) <= 300),
  constraint inbound_messages_provider_message_id_check CHECK (char_length(provider_message_id) >= 1 AND char_length(provider_message_id) <= 255),
  constraint inbound_messages_status_check CHECK (status = ANY (ARRAY['received'::text, 'taken'::text, 'answered'::text, 'ignored'::text, 'failed'::text]))
);
CREATE INDEX inbound_messages_due ON public.inbound_messages USING btree (due_at) WHERE (status = ANY (ARRAY['received'::text, 'taken'::text]));
CREATE INDEX inbound_messages_failed ON public.inbound_messages USING btree (workspace_id, connection_id, received_at) WHERE (status = 'failed'::text);
CREATE UNIQUE INDEX inbound_messages_id ON public.inbound_messages USING btree (workspace_id, id);
CREATE INDEX inbound_messages_of_message ON public.inbound_messages USING btree (workspace_id, conversation_id, message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX inbound_messages_of_person ON public.inbound_messages USING btree (workspace_id, connection_id, person_key) WHERE (status = 'received'::text);
CREATE INDEX inbound_messages_of_user ON public.inbound_messages USING btree (workspace_id, connection_id, end_user_id, sent_at) WHERE (status = ANY (ARRAY['received'::text, 'taken'::text]));
CREATE INDEX inbound_messages_settled ON public.inbound_messages USING btree (settled_at) WHERE (settled_at IS NOT NULL);
CREATE INDEX inbound_messages_unanswered ON public.inbound_messages USING btree (workspace_id, conversation_id) WHERE (status = 'taken'::text);
alter table inbound_messages enable and force row level security;
create policy every_workspace on inbound_messages as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on inbound_messages as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_embeddings (
  workspace_id uuid not null,
  source_id uuid not null,
  model text not null,
  dimensions integer,
  embedded_to integer not null default '-1'::integer,
  refused integer not null default 0,
  completed_at timestamp(3) with time zone,
  failed_at timestamp(3) with time zone,
  failure text,
  constraint knowledge_embeddings_pkey PRIMARY KEY (workspace_id, source_id),
  constraint knowledge_embeddings_source_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES knowledge_sources(workspace_id, id) ON DELETE CASCADE,
  constraint knowledge_embeddings_dimensions_check CHECK (dimensions >= 1 AND dimensions <= 16000),
  constraint knowledge_embeddings_failure_check CHECK (char_length(failure) <= 2000),
  constraint knowledge_embeddings_model_check CHECK (char_length(model) >= 1 AND char_length(model) <= 300),
  constraint knowledge_embeddings_refused_check CHECK (refused >= 0)
);
alter table knowledge_embeddings enable and force row level security;
create policy every_workspace on knowledge_embeddings as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_embeddings as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_indexes (
  workspace_id uuid not null,
  source_id uuid not null,
  languages text[] not null,
  passages integer not null,
  words bigint not null,
  constraint knowledge_indexes_pkey PRIMARY KEY (workspace_id, source_id),
  constraint knowledge_indexes_source_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES knowledge_sources(workspace_id, id) ON DELETE CASCADE,
  constraint knowledge_indexes_passages_check CHECK (passages >= 0),
  constraint knowledge_indexes_words_check CHECK (words >= 0)
);
alter table knowledge_indexes enable and force row level security;
create policy every_workspace on knowledge_indexes as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_indexes as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_passages (
  workspace_id uuid not null,
  source_id uuid not null,
  seq integer not null,
  heading text,
  page integer,
  content text not null,
  words tsvector not null,
  length integer,
  stemmed boolean not null default false,
  worth real not null default 1,
  constraint knowledge_passages_pkey PRIMARY KEY (workspace_id, source_id, seq),
  constraint knowledge_passages_source_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES knowledge_sources(workspace_id, id) ON DELETE CASCADE,
  constraint knowledge_passages_length_check CHECK (length >= 0),
  constraint knowledge_passages_page_check CHECK (page >= 1),
  constraint knowledge_passages_seq_check CHECK (seq >= 0),
  constraint knowledge_passages_worth_check CHECK (worth > 0::double precision AND worth <= 1::double precision)
);
CREATE INDEX knowledge_passages_unindexed ON public.knowledge_passages USING btree (workspace_id, source_id) WHERE (length IS NULL);
CREATE INDEX knowledge_passages_words ON public.knowledge_passages USING gin (((workspace_id)::text), words) WITH (fastupdate='on', gin_pending_list_limit='512');
alter table knowledge_passages enable and force row level security;
create policy every_workspace on knowledge_passages as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_passages as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_source_words (
  workspace_id uuid not null,
  source_id uuid not null,
  word text not null,
  passages integer not null,
  constraint knowledge_source_words_pkey PRIMARY KEY (workspace_id, source_id, word),
  constraint knowledge_source_words_index_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES knowledge_indexes(workspace_id, source_id) ON DELETE CASCADE,
  constraint knowledge_source_words_passages_check CHECK (passages > 0),
  constraint knowledge_source_words_word_check CHECK (octet_length(word) <= 1000)
);
alter table knowledge_source_words enable and force row level security;
create policy every_workspace on knowledge_source_words as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_source_words as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_sources (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  source_type text not null,
  file_kind text not null,
  size_bytes bigint not null,
  processing_status text not null default 'PENDING'::text,
  error_message text,
  attempts integer not null default 0,
  last_processed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  purged_at timestamp(3) with time zone,
  is_slow boolean not null default false,
  constraint knowledge_sources_pkey PRIMARY KEY (workspace_id, id),
  constraint knowledge_sources_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint knowledge_sources_attempts_check CHECK (attempts >= 0),
  constraint knowledge_sources_description_check CHECK (char_length(description) <= 500),
  constraint knowledge_sources_end_has_time CHECK ((processing_status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text])) OR last_processed_at IS NOT NULL),
  constraint knowledge_sources_error_message_check CHECK (char_length(error_message) >= 1 AND char_length(error_message) <= 1000),
  constraint knowledge_sources_failure_says_why CHECK ((processing_status = 'FAILED'::text) = (error_message IS NOT NULL)),
  constraint knowledge_sources_file_kind_check CHECK (file_kind = ANY (ARRAY['pdf'::text, 'docx'::text, 'csv'::text, 'markdown'::text, 'text'::text])),
  constraint knowledge_sources_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 150),
  constraint knowledge_sources_processing_status_check CHECK (processing_status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text])),
  constraint knowledge_sources_purged_are_deleted CHECK (purged_at IS NULL OR deleted_at IS NOT NULL),
  constraint knowledge_sources_size_bytes_check CHECK (size_bytes >= 0),
  constraint knowledge_sources_source_type_check CHECK (source_type = ANY (ARRAY['FILE_UPLOAD'::text, 'FILE'::text, 'TEXT_INPUT'::text]))
);
CREATE INDEX knowledge_sources_list ON public.knowledge_sources USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX knowledge_sources_unfinished ON public.knowledge_sources USING btree (updated_at) WHERE (((deleted_at IS NULL) AND (processing_status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text]))) OR ((deleted_at IS NOT NULL) AND (purged_at IS NULL)));
alter table knowledge_sources enable and force row level security;
create policy every_workspace on knowledge_sources as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_sources as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_vectors (
  workspace_id uuid not null,
  source_id uuid not null,
  seq integer not null,
  signs bit varying not null,
  vector real[] not null,
  constraint knowledge_vectors_pkey PRIMARY KEY (workspace_id, source_id, seq),
  constraint knowledge_vectors_embedding_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES knowledge_embeddings(workspace_id, source_id) ON DELETE CASCADE
);
alter table knowledge_vectors enable and force row level security;
create policy every_workspace on knowledge_vectors as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_vectors as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table knowledge_words (
  workspace_id uuid not null,
  word text not null,
  shape text not null,
  passages integer not null,
  constraint knowledge_words_pkey PRIMARY KEY (workspace_id, word),
  constraint knowledge_words_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint knowledge_words_word_check CHECK (octet_length(word) <= 1000)
);
CREATE INDEX knowledge_words_similar ON public.knowledge_words USING gin (((workspace_id)::text), shape gin_trgm_ops) WITH (gin_pending_list_limit='512');
alter table knowledge_words enable and force row level security;
create policy every_workspace on knowledge_words as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on knowledge_words as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table live_replies (
  workspace_id uuid not null,
  conversation_id uuid not null,
  reply_id uuid not null,
  place integer not null,
  start_at integer not null,
  text text not null,
  written_at timestamp(3) with time zone not null default now(),
  constraint live_replies_pkey PRIMARY KEY (workspace_id, conversation_id, reply_id, place),
  constraint live_replies_place_check CHECK (place >= 0),
  constraint live_replies_start_at_check CHECK (start_at >= 0)
);
CREATE INDEX live_replies_old ON public.live_replies USING btree (written_at);
alter table live_replies enable and force row level security;
create policy every_workspace on live_replies as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on live_replies as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table mails (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  kind text not null,
  recipient text not null,
  recipient_name text,
  content bytea,
  status text not null default 'queued'::text,
  attempts integer not null default 0,
  is_unconfirmed boolean not null default false,
  due_at timestamp(3) with time zone not null default now(),
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  settled_at timestamp(3) with time zone,
  constraint mails_pkey PRIMARY KEY (workspace_id, id),
  constraint mails_attempts_check CHECK (attempts >= 0),
  constraint mails_key_check CHECK (char_length(key) >= 1 AND char_length(key) <= 300),
  constraint mails_kind_check CHECK (kind = ANY (ARRAY['invitation'::text, 'sign_in'::text, 'invoice_request'::text])),
  constraint mails_recipient_check CHECK (char_length(recipient) >= 3 AND char_length(recipient) <= 320),
  constraint mails_status_check CHECK (status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'failed'::text]))
);
CREATE INDEX mails_due ON public.mails USING btree (due_at) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text]));
CREATE UNIQUE INDEX mails_key ON public.mails USING btree (workspace_id, key);
CREATE INDEX mails_list ON public.mails USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX mails_settled ON public.mails USING btree (settled_at) WHERE (settled_at IS NOT NULL);
alter table mails enable and force row level security;
create policy every_workspace on mails as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on mails as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table memories (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  external_user_id text not null,
  fact text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint memories_pkey PRIMARY KEY (workspace_id, id),
  constraint memories_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
  constraint memories_external_user_id_check CHECK (char_length(external_user_id) >= 1 AND char_length(external_user_id) <= 255),
  constraint memories_fact_check CHECK (char_length(fact) >= 1 AND char_length(fact) <= 1000)
);
CREATE UNIQUE INDEX memories_fact_key ON public.memories USING btree (workspace_id, agent_id, external_user_id, md5(fact));
CREATE INDEX memories_of_user ON public.memories USING btree (workspace_id, agent_id, external_user_id, updated_at DESC, id DESC);
alter table memories enable and force row level security;
create policy every_workspace on memories as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on memories as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  seq bigint not null generated always as identity,
  turn_id uuid,
  role text not null,
  content text not null,
  attachments jsonb not null default '[]'::jsonb,
  model text,
  provider text,
  input_tokens integer,
  output_tokens integer,
  cost_usd numeric(18,10),
  cost_ops integer,
  sent_at timestamp(3) with time zone not null default now(),
  model_text text,
  ui jsonb,
  audio_key text,
  audio_bytes bigint,
  author text,
  constraint messages_pkey PRIMARY KEY (workspace_id, id),
  constraint messages_conversation_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint messages_attachments_check CHECK (jsonb_typeof(attachments) = 'array'::text),
  constraint messages_audio_bytes_check CHECK (audio_bytes >= 0),
  constraint messages_author_check CHECK (author = 'operator'::text),
  constraint messages_cost_ops_check CHECK (cost_ops >= 0),
  constraint messages_cost_usd_check CHECK (cost_usd >= 0::numeric),
  constraint messages_input_tokens_check CHECK (input_tokens >= 0),
  constraint messages_output_tokens_check CHECK (output_tokens >= 0),
  constraint messages_role_check CHECK (role = ANY (ARRAY['user'::text, 'assistant'::text])),
  constraint messages_ui_check CHECK (jsonb_typeof(ui) = 'object'::text)
);
CREATE INDEX messages_counted ON public.messages USING btree (workspace_id, sent_at) INCLUDE (cost_ops) WHERE (cost_ops > 0);
CREATE INDEX messages_of_conversation ON public.messages USING btree (workspace_id, conversation_id, seq);
CREATE INDEX messages_spoken ON public.messages USING btree (workspace_id) INCLUDE (audio_bytes) WHERE (audio_bytes IS NOT NULL);
alter table messages enable and force row level security;
create policy every_workspace on messages as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on messages as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table native_connections (
  workspace_id uuid not null,
  id uuid not null,
  provider text not null,
  toolkit_slug text not null,
  name text not null,
  external_id text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint native_connections_pkey PRIMARY KEY (workspace_id, id),
  constraint native_connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint native_connections_account CHECK ((provider = 'composio'::text) = (external_id IS NOT NULL)),
  constraint native_connections_external_id_check CHECK (external_id ~ '^[A-Za-z0-9_-]{1,200}$'::text),
  constraint native_connections_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 255),
  constraint native_connections_provider_check CHECK (provider = ANY (ARRAY['builtin'::text, 'composio'::text])),
  constraint native_connections_toolkit_slug_check CHECK (toolkit_slug ~ '^[A-Za-z0-9_-]{1,100}$'::text)
);
CREATE UNIQUE INDEX native_connections_account_key ON public.native_connections USING btree (workspace_id, provider, toolkit_slug, COALESCE(external_id, ''::text)) WHERE (deleted_at IS NULL);
CREATE INDEX native_connections_list ON public.native_connections USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
alter table native_connections enable and force row level security;
create policy every_workspace on native_connections as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on native_connections as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table operation_usage (
  workspace_id uuid not null,
  month date not null,
  operations bigint not null default 0,
  constraint operation_usage_pkey PRIMARY KEY (workspace_id, month),
  constraint operation_usage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint operation_usage_month_check CHECK (EXTRACT(day FROM month) = 1::numeric),
  constraint operation_usage_operations_check CHECK (operations >= 0)
);
alter table operation_usage enable and force row level security;
create policy every_workspace on operation_usage as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on operation_usage as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table payment_events (
  workspace_id uuid not null,
  id text not null,
  type text not null,
  payload jsonb not null,
  status text not null default 'received'::text,
  attempts integer not null default 0,
  due_at timestamp(3) with time zone not null default now(),
  error_message text,
  created_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone not null default now(),
  settled_at timestamp(3) with time zone,
  constraint payment_events_pkey PRIMARY KEY (workspace_id, id),
  constraint payment_events_attempts_check CHECK (attempts >= 0),
  constraint payment_events_error_message_check CHECK (char_length(error_message) <= 1000),
  constraint payment_events_id_check CHECK (char_length(id) >= 1 AND char_length(id) <= 255),
  constraint payment_events_payload_check CHECK (jsonb_typeof(payload) = 'object'::text),
  constraint payment_events_status_check CHECK (status = ANY (ARRAY['received'::text, 'applied'::text, 'ignored'::text, 'failed'::text]))
);
CREATE INDEX payment_events_list ON public.payment_events USING btree (workspace_id, received_at DESC, id);
CREATE INDEX payment_events_waiting ON public.payment_events USING btree (due_at) WHERE (status = 'received'::text);
alter table payment_events enable and force row level security;
create policy every_workspace on payment_events as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on payment_events as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table payment_intents (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  subject_id uuid not null,
  provider_ids jsonb not null default '{}'::jsonb,
  account text,
  status text not null default 'open'::text,
  attempts integer not null default 0,
  due_at timestamp(3) with time zone not null,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  constraint payment_intents_pkey PRIMARY KEY (workspace_id, id),
  constraint payment_intents_attempts_check CHECK (attempts >= 0),
  constraint payment_intents_error_message_check CHECK (char_length(error_message) <= 1000),
  constraint payment_intents_provider_ids_check CHECK (jsonb_typeof(provider_ids) = 'object'::text),
  constraint payment_intents_status_check CHECK (status = ANY (ARRAY['open'::text, 'done'::text, 'undone'::text]))
);
CREATE INDEX payment_intents_open ON public.payment_intents USING btree (due_at) WHERE (status = 'open'::text);
CREATE INDEX payment_intents_subject ON public.payment_intents USING btree (workspace_id, subject_id) WHERE (status = 'open'::text);
alter table payment_intents enable and force row level security;
create policy every_workspace on payment_intents as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on payment_intents as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table plans (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  status text not null default 'active'::text,
  billing_type text not null,
  billing_interval_months integer not null,
  price_cents integer not null,
  currency text not null,
  unlimited_credits boolean not null default false,
  extra_credits_enabled boolean not null default false,
  extra_credits_price_cents integer,
  seats_included integer not null,
  visible boolean not null default true,
  credit_package_id uuid,
  hub_package_id uuid,
  widget_title text,
  widget_description text,
  widget_cta_text text,
  widget_highlighted boolean not null default false,
  widget_features jsonb not null default '[]'::jsonb,
  provider_product_id text,
  provider_price_id text,
  provider_payment_link_id text,
  provider_payment_link_url text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint plans_pkey PRIMARY KEY (workspace_id, id),
  constraint plans_credit_package_fkey FOREIGN KEY (workspace_id, credit_package_id) REFERENCES credit_packages(workspace_id, id),
  constraint plans_hub_package_fkey FOREIGN KEY (workspace_id, hub_package_id) REFERENCES hub_packages(workspace_id, id),
  constraint plans_billing_interval_months_check CHECK (billing_interval_months >= 0),
  constraint plans_billing_type_check CHECK (billing_type = ANY (ARRAY['one_time'::text, 'recurring'::text])),
  constraint plans_content CHECK (hub_package_id IS NOT NULL OR deleted_at IS NOT NULL),
  constraint plans_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint plans_description_check CHECK (char_length(description) <= 500),
  constraint plans_extra_credits_price_cents_check CHECK (extra_credits_price_cents >= 1),
  constraint plans_interval CHECK (billing_type = 'one_time'::text OR billing_interval_months >= 1),
  constraint plans_name_check CHECK (char_length(name) >= 3 AND char_length(name) <= 100),
  constraint plans_price_cents_check CHECK (price_cents >= 0),
  constraint plans_seats_included_check CHECK (seats_included >= 1),
  constraint plans_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text])),
  constraint plans_widget_cta_text_check CHECK (char_length(widget_cta_text) <= 30),
  constraint plans_widget_description_check CHECK (char_length(widget_description) <= 100),
  constraint plans_widget_features_check CHECK (jsonb_typeof(widget_features) = 'array'::text),
  constraint plans_widget_title_check CHECK (char_length(widget_title) <= 50)
);
CREATE INDEX plans_credit_package ON public.plans USING btree (workspace_id, credit_package_id) WHERE (credit_package_id IS NOT NULL);
CREATE INDEX plans_hub_package ON public.plans USING btree (workspace_id, hub_package_id);
CREATE INDEX plans_list ON public.plans USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX plans_name_key ON public.plans USING btree (workspace_id, lower(name)) WHERE (deleted_at IS NULL);
alter table plans enable and force row level security;
create policy every_workspace on plans as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on plans as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table prompt_parts (
  workspace_id uuid not null,
  agent_id uuid not null,
  week date not null,
  digest text not null,
  content json not null,
  constraint prompt_parts_pkey PRIMARY KEY (workspace_id, agent_id, week, digest),
  constraint prompt_parts_agent_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX prompt_parts_of_week ON public.prompt_parts USING btree (week);
alter table prompt_parts enable and force row level security;
create policy every_workspace on prompt_parts as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on prompt_parts as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table public_addresses (
  address_hash bytea not null,
  workspace_id uuid not null,
  kind text not null,
  target_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  constraint public_addresses_pkey PRIMARY KEY (address_hash),
  constraint public_addresses_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint public_addresses_address_hash_check CHECK (octet_length(address_hash) = 32),
  constraint public_addresses_kind_check CHECK (kind = ANY (ARRAY['automation'::text, 'channel'::text, 'payments'::text]))
);
CREATE INDEX public_addresses_target ON public.public_addresses USING btree (workspace_id, target_id);
alter table public_addresses enable and force row level security;
create policy every_workspace on public_addresses as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on public_addresses as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table schema_migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp(3) with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table skill_files (
  workspace_id uuid not null,
  skill_id uuid not null,
  path text not null,
  size_bytes bigint not null,
  "binary" boolean not null,
  content bytea not null,
  constraint skill_files_pkey PRIMARY KEY (workspace_id, skill_id, path),
  constraint skill_files_skill_fkey FOREIGN KEY (workspace_id, skill_id) REFERENCES skills(workspace_id, id) ON DELETE CASCADE,
  constraint skill_files_path_check CHECK (char_length(path) >= 1 AND char_length(path) <= 255),
  constraint skill_files_size_bytes_check CHECK (size_bytes >= 0 AND size_bytes <= 20971520),
  constraint skill_files_size_is_of_content CHECK (size_bytes = octet_length(content))
);
alter table skill_files enable and force row level security;
create policy every_workspace on skill_files as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on skill_files as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table skills (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  license text,
  compatibility text,
  allowed_tools text,
  metadata jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint skills_pkey PRIMARY KEY (workspace_id, id),
  constraint skills_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint skills_allowed_tools_check CHECK (char_length(allowed_tools) >= 1 AND char_length(allowed_tools) <= 4096),
  constraint skills_compatibility_check CHECK (char_length(compatibility) >= 1 AND char_length(compatibility) <= 500),
  constraint skills_description_check CHECK (char_length(description) <= 1024),
  constraint skills_license_check CHECK (char_length(license) >= 1 AND char_length(license) <= 1024),
  constraint skills_metadata_check CHECK (jsonb_typeof(metadata) = 'object'::text),
  constraint skills_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 64)
);
CREATE INDEX skills_list ON public.skills USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX skills_name_key ON public.skills USING btree (workspace_id, name) WHERE (deleted_at IS NULL);
alter table skills enable and force row level security;
create policy every_workspace on skills as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on skills as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table tool_variables (
  workspace_id uuid not null,
  id uuid not null,
  tool_id uuid not null,
  conversation_id uuid,
  value jsonb not null,
  updated_at timestamp(3) with time zone not null default now(),
  constraint tool_variables_pkey PRIMARY KEY (workspace_id, id),
  constraint tool_variables_key UNIQUE NULLS NOT DISTINCT (workspace_id, tool_id, conversation_id),
  constraint tool_variables_conversation_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint tool_variables_tool_fkey FOREIGN KEY (workspace_id, tool_id) REFERENCES http_tools(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX tool_variables_of_conversation ON public.tool_variables USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
alter table tool_variables enable and force row level security;
create policy every_workspace on tool_variables as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on tool_variables as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table turn_steps (
  workspace_id uuid not null,
  turn_id uuid not null,
  seq integer not null,
  agent_id uuid not null,
  depth integer not null default 0,
  kind text not null,
  name text not null,
  provider text,
  status text not null,
  input jsonb,
  output jsonb,
  duration_ms integer,
  input_tokens integer,
  output_tokens integer,
  cost_usd numeric(18,10),
  started_at timestamp(3) with time zone not null default now(),
  cached_input_tokens integer,
  cache_write_tokens integer,
  finish_reason text,
  request json,
  parent_seq integer,
  state json,
  constraint turn_steps_pkey PRIMARY KEY (workspace_id, turn_id, seq),
  constraint turn_steps_cost_usd_check CHECK (cost_usd >= 0::numeric),
  constraint turn_steps_depth_check CHECK (depth >= 0),
  constraint turn_steps_duration_ms_check CHECK (duration_ms >= 0),
  constraint turn_steps_input_tokens_check CHECK (input_tokens >= 0),
  constraint turn_steps_kind_check CHECK (kind = ANY (ARRAY['model'::text, 'tool'::text])),
  constraint turn_steps_output_tokens_check CHECK (output_tokens >= 0),
  constraint turn_steps_seq_check CHECK (seq >= 0),
  constraint turn_steps_status_check CHECK (status = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text, 'waiting'::text]))
) partition by RANGE (turn_id);
alter table turn_steps enable and force row level security;
create policy every_workspace on turn_steps as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on turn_steps as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table turns (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  agent_id uuid not null,
  version_number integer not null,
  kind text not null,
  status text not null default 'running'::text,
  error_code text,
  error_message text,
  transcript jsonb,
  paused jsonb,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric(18,10) not null default 0,
  started_at timestamp(3) with time zone not null default now(),
  ended_at timestamp(3) with time zone,
  request json,
  constraint turns_pkey PRIMARY KEY (workspace_id, id),
  constraint turns_conversation_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint turns_cost_usd_check CHECK (cost_usd >= 0::numeric),
  constraint turns_end CHECK ((status = 'running'::text) = (ended_at IS NULL)),
  constraint turns_input_tokens_check CHECK (input_tokens >= 0),
  constraint turns_kind_check CHECK (kind = ANY (ARRAY['message'::text, 'follow_up'::text, 'continuation'::text])),
  constraint turns_output_tokens_check CHECK (output_tokens >= 0),
  constraint turns_paused_check CHECK (jsonb_typeof(paused) = 'object'::text),
  constraint turns_status_check CHECK (status = ANY (ARRAY['running'::text, 'done'::text, 'waiting'::text, 'failed'::text, 'interrupted'::text])),
  constraint turns_transcript_check CHECK (jsonb_typeof(transcript) = ANY (ARRAY['array'::text, 'object'::text])),
  constraint turns_waiting_is_paused CHECK ((status = 'waiting'::text) = (paused IS NOT NULL))
);
CREATE INDEX turns_of_conversation ON public.turns USING btree (workspace_id, conversation_id, started_at) WHERE (conversation_id IS NOT NULL);
CREATE INDEX turns_of_month ON public.turns USING btree (workspace_id, started_at) WHERE (started_at IS NOT NULL);
CREATE INDEX turns_waiting ON public.turns USING btree (workspace_id, conversation_id) WHERE (paused IS NOT NULL);
alter table turns enable and force row level security;
create policy every_workspace on turns as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on turns as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table workspace_revisions (
  workspace_id uuid not null,
  revision bigint not null default 1,
  constraint workspace_revisions_pkey PRIMARY KEY (workspace_id),
  constraint workspace_revisions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
alter table workspace_revisions enable and force row level security;
create policy every_workspace on workspace_revisions as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on workspace_revisions as permissive for all to guildhall_app
  using ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid))
  with check ((workspace_id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

create table workspaces (
  id uuid not null,
  name text not null,
  agent_limit integer,
  operation_limit integer,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  tool_limit integer default 500,
  time_zone text not null default 'UTC'::text,
  storage_limit bigint default '10737418240'::bigint,
  skill_limit integer default 500,
  external_mcp_limit integer default 100,
  knowledge_source_limit integer default 2000,
  request_limit integer default 256,
  turn_limit integer default 1000,
  background_limit integer default 256,
  automation_limit integer default 1000,
  approvals_by text,
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_agent_limit_check CHECK (agent_limit >= 0),
  constraint workspaces_approvals_by_check CHECK (approvals_by = ANY (ARRAY['user'::text, 'operator'::text])),
  constraint workspaces_automation_limit_check CHECK (automation_limit >= 0),
  constraint workspaces_background_limit_check CHECK (background_limit >= 1),
  constraint workspaces_external_mcp_limit_check CHECK (external_mcp_limit >= 0),
  constraint workspaces_knowledge_source_limit_check CHECK (knowledge_source_limit >= 0),
  constraint workspaces_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint workspaces_operation_limit_check CHECK (operation_limit >= 0),
  constraint workspaces_request_limit_check CHECK (request_limit >= 0),
  constraint workspaces_skill_limit_check CHECK (skill_limit >= 0),
  constraint workspaces_storage_limit_check CHECK (storage_limit >= 0),
  constraint workspaces_time_zone_check CHECK (char_length(time_zone) >= 1 AND char_length(time_zone) <= 50),
  constraint workspaces_tool_limit_check CHECK (tool_limit >= 0),
  constraint workspaces_turn_limit_check CHECK (turn_limit >= 0)
);
alter table workspaces enable and force row level security;
create policy every_workspace on workspaces as permissive for all to guildhall_system
  using (sees_every_workspace())
  with check (sees_every_workspace());
create policy own_workspace on workspaces as permissive for select to guildhall_app
  using ((id = (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid));

CREATE OR REPLACE FUNCTION public.add_steps_partition(id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '5s'
AS $function$
declare
  ms constant bigint := ('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint;
  week constant timestamp := date_trunc('week', to_timestamp(ms / 1000.0) at time zone 'UTC');
  partition constant text := 'turn_steps_' || to_char(week, 'YYYY_MM_DD');
begin
  if exists (select from pg_class c where c.relnamespace = 'partitions'::regnamespace and c.relname = partition) then
    return;
  end if;
  perform pg_advisory_xact_lock(7261548203);
  if exists (select from pg_class c where c.relnamespace = 'partitions'::regnamespace and c.relname = partition) then
    return; -- made meanwhile
  end if;
  begin
    execute format('create table partitions.%I (like turn_steps including all excluding indexes)', partition);
    execute format('alter table partitions.%I enable row level security', partition);
    execute format('alter table partitions.%I force row level security', partition);
    execute format('alter table turn_steps attach partition partitions.%I for values from (%L) to (%L)', partition,
      first_id_at(week at time zone 'UTC'), first_id_at((week + interval '1 week') at time zone 'UTC'));
  exception when invalid_object_definition then
    null; -- the first partition, which has the steps of before, has this week
  end;
end
$function$;

CREATE OR REPLACE FUNCTION public.first_id_at(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE STRICT
RETURN ((lpad(to_hex((round((EXTRACT(epoch FROM moment) * (1000)::numeric)))::bigint), 12, '0'::text) || repeat('0'::text, 20)))::uuid;

CREATE OR REPLACE FUNCTION public.flush_knowledge_passages()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$ select gin_clean_pending_list('public.knowledge_passages_words'::regclass) $function$;

CREATE OR REPLACE FUNCTION public.knowledge_matches(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], graded boolean[], most integer, wanted integer)
 RETURNS TABLE(source_id uuid, seq integer, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  queries constant tsquery[] := array(select t.part::tsquery from unnest(parts) with ordinality t (part, ordinal) order by t.ordinal);
  once constant double precision := ts_rank('word:1'::tsvector, 'word'::tsquery);
begin
  return query
  with found as materialized (
    (select p.source_id, p.seq, p.words
     from knowledge_passages p
     where not inverted and p.workspace_id = workspace and p.source_id = any (sources)
       and (candidates is null or p.words @@ candidates)
     union all
     select p.source_id, p.seq, p.words
     from knowledge_passages p
     where inverted and p.workspace_id::text = workspace::text and p.words @@ candidates
       and (p.source_id = any (sources)) is true)
    limit most
  )
  select f.source_id, f.seq, s.score
  from found f
  cross join lateral (
    select sum(t.weight * case when t.graded then ts_rank(f.words, t.query) / once else (f.words @@ t.query)::int end) as score
    from unnest(queries, weights, graded) t (query, weight, graded)) s
  where s.score > 0
  order by s.score desc, f.source_id, f.seq
  limit wanted;
end
$function$;

CREATE OR REPLACE FUNCTION public.knowledge_ranking(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], plain_weights real[], graded boolean[], average real, most integer, wanted integer)
 RETURNS TABLE(source_id uuid, seq integer, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  -- coalesce: without it the inverted index would be read for all of the workspace.
  chosen constant text := case
    when inverted then 'p.workspace_id::text = $1::text and p.words @@ $2 and (p.source_id = any ($3)) is true'
    else 'p.workspace_id = $1 and p.source_id = any ($3) and coalesce(p.words @@ $2, true)' end;
  -- With so many passages, planning the formula takes about as long as going through the parts for each passage.
  few constant int := 40;
  formula text;
begin
  if candidates is null and not inverted and (
    select count(*) from (select from knowledge_passages p where p.workspace_id = workspace and p.source_id = any (sources) limit few + 1) chosen
  ) <= few then
    -- The formula below, to the last bit: its parts are added in the same order.
    return query
    select f.source_id, f.seq, f.worth * s.score
    from (select p.source_id, p.seq, p.words, p.stemmed, p.worth, 0.5 + 1.5 * coalesce(p.length, average) / greatest(average, 1) as norm
      from knowledge_passages p
      where p.workspace_id = workspace and p.source_id = any (sources) limit most) f
    cross join lateral (
      select coalesce(sum(r.amount order by r.ordinal) filter (where r.weight > 0 and r.plain_weight > 0), 0)
        + coalesce(sum(r.amount order by r.ordinal) filter (where r.weight <= 0), 0)
        + coalesce(sum(r.amount order by r.ordinal) filter (where r.plain_weight <= 0), 0) as score
      from (
        select t.weight, t.plain_weight, t.ordinal, case
          when t.graded then w.weight * 3 * (1 - f.norm / (floor('0.60792710185'::float8 / ('1'::float4 - ts_rank('{1,1,1,1}', f.words, t.query))) + f.norm))
          when f.words @@ t.query then w.weight
          else 0 end as amount
        from unnest(array(select o.part::tsquery from unnest(parts) with ordinality o (part, place) order by o.place), weights, plain_weights, graded)
          with ordinality t (query, weight, plain_weight, graded, ordinal)
        cross join lateral (select (case when f.stemmed then t.weight else t.plain_weight end)::text::float8 as weight offset 0) w
        where w.weight > 0) r) s
    where s.score > 0
    order by 3 desc, f.source_id, f.seq
    limit wanted;
    return;
  end if;
  -- Okapi BM25, k1 = 2 and b = 0.75. With equal weights ts_rank of one word is the sum of 1/n² over its n places, divided by π²/6:
  -- what remains of it is 0.6079 / (n + 0.5), to a hundredth of n for the 255 places that are kept, so the rank tells n. BM25's 3n / (n + norm) is
  -- written so that n stands there once, and is 0 to the last bit where n is 0. What counts only in passages with stems is skipped as a whole in the others.
  select string_agg(case groups.are when 'both' then groups.terms
      when 'stemmed' then format('case when f.stemmed then %s else 0 end', groups.terms)
      else format('case when f.stemmed then 0 else %s end', groups.terms) end, ' + ' order by groups.are)
  into formula
  from (
    select w.are, string_agg(case
        when t.graded then format('%s * (1 - f.norm / (floor(''0.60792710185''::float8 / (''1''::float4 - ts_rank($4, f.words, %L::tsquery))) + f.norm))', w.amount, t.part)
        else format('case when f.words @@ %L::tsquery then %s else 0 end', t.part, w.amount) end, ' + ' order by t.ordinal) as terms
    from unnest(parts, weights, plain_weights, graded) with ordinality t (part, weight, plain_weight, graded, ordinal)
    -- As text: so a real keeps its digits.
    cross join lateral (select t.weight::text::float8 * m.most as weight, t.plain_weight::text::float8 * m.most as plain_weight from (select case when t.graded then 3 else 1 end as most) m) a
    cross join lateral (
      select case when a.weight <= 0 then 'plain' when a.plain_weight <= 0 then 'stemmed' else 'both' end as are,
        case when a.weight > 0 and a.plain_weight > 0 and a.weight <> a.plain_weight
          then format('case when f.stemmed then %L::float8 else %L::float8 end', a.weight, a.plain_weight)
          else format('%L::float8', greatest(a.weight, a.plain_weight)) end as amount) w
    where greatest(a.weight, a.plain_weight) > 0
    group by w.are) groups;
  -- offset 0 keeps the formula from being put in place of each use of a score.
  return query execute format('
    select s.source_id, s.seq, s.worth * s.score
    from (
      select f.source_id, f.seq, f.worth, %s as score
      from (
        select p.source_id, p.seq, p.words, p.stemmed, p.worth, 0.5 + 1.5 * coalesce(p.length, $6) / greatest($6, 1) as norm
        from knowledge_passages p where %s limit $5) f
      offset 0) s
    where s.score > 0
    order by 3 desc, s.source_id, s.seq
    limit $7', coalesce(formula, '0'), chosen)
  using workspace, candidates, sources, '{1,1,1,1}'::real[], most, average, wanted;
end
$function$;

CREATE OR REPLACE FUNCTION public.knowledge_terms(asked text[], written text[], shapes text[], sources uuid[])
 RETURNS TABLE(ordinal integer, word text, passages integer, found integer, likeness real)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET "pg_trgm.similarity_threshold" TO '0.25'
AS $function$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  everything int;
  spoken text[];
  scope uuid[];
  covered bigint;
  indexed bigint;
  average bigint;
  whole boolean;
begin
  -- The largest sources stand for all when there are very many: each word is looked up in each of them.
  with mine as materialized (
    select i.source_id, i.passages, i.words, i.languages from knowledge_indexes i where i.workspace_id = workspace and i.source_id = any (sources)
  ), largest as materialized (
    select m.source_id, m.passages from mine m where m.passages > 0
    order by m.passages desc, m.source_id limit greatest(10, 3000 / greatest(1, cardinality(asked)))
  )
  select (select v.passages from knowledge_words v where v.workspace_id = workspace and v.word = ''),
    coalesce(sum(m.passages), 0), coalesce(sum(m.words) / nullif(sum(m.passages), 0), 0),
    array(select l.language from mine s cross join unnest(s.languages) l (language)
      group by l.language order by sum(s.passages) desc, l.language limit 6),
    array(select l.source_id from largest l), (select sum(l.passages) from largest l)
  into everything, indexed, average, spoken, scope, covered
  from mine m;
  -- The counts of the workspace are those of its sources when all of these are searched.
  whole := coalesce(indexed >= everything, false);
  return query
  with wanted as materialized (
    select a.ordinal::int as ordinal, a.word collate "C" as word, a.written, a.shape, coalesce(v.passages, 0) as passages, v.passages is not null as is_known
    from unnest(asked, written, shapes) with ordinality a (word, written, shape, ordinal)
    left join knowledge_words v on v.workspace_id = workspace and v.word = a.word
  ), lexemes as materialized (
    select w.ordinal, w.word, w.passages, whole or not w.is_known as is_counted from wanted w
    union all
    select distinct w.ordinal, ('~' || stem.word) collate "C", 0, false
    from wanted w
    cross join unnest(spoken) l (language)
    join pg_ts_dict d on d.dictname = l.language || '_stem' and d.dictnamespace = 'pg_catalog'::regnamespace
    cross join lateral (
      select unaccent((ts_lexize(d.oid::regdictionary, w.written))[1]) as word where w.written <> ''
      union all
      select w.word) stem
    where stem.word <> ''
  ), counted as materialized (
    select k.word, (sum(k.passages) * indexed / greatest(1, covered))::int as found
    from knowledge_source_words k
    where k.workspace_id = workspace and k.source_id = any (scope)
      and k.word = any (array(select l.word from lexemes l where not l.is_counted))
    group by k.word
  )
  select 0, '', everything, everything, 1::real where everything is not null
  union all
  select -1, '', (indexed + old.passages)::int, old.passages::int, 1::real
  from (select count(*) as passages from (
    select from knowledge_passages p
    where p.workspace_id = workspace and p.source_id = any (sources) and p.length is null limit 10000) unindexed) old
  union all
  select -2, '', average::int, 0, 1::real
  union all
  select l.ordinal, l.word, l.passages, case when l.is_counted then l.passages else coalesce(c.found, 0) end, 1::real
  from lexemes l left join counted c on c.word = l.word
  union all
  -- Inflections: words that begin alike. U+10FFFF sorts after every letter.
  select w.ordinal, near.word, near.passages, 0, near.likeness
  from wanted w
  cross join lateral (select left(w.word, greatest(4, char_length(w.word) - 3)) collate "C" as stem) s
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id = workspace and v.word >= s.stem and v.word < s.stem || chr(1114111)
      and v.word <> w.word and v.passages > 0
    order by likeness desc, v.word limit 5) near
  where w.shape <> '' and near.likeness >= 0.4 and near.likeness < 1
  union all
  -- Typing errors: what looks like a word that is not there.
  select w.ordinal, near.word, near.passages, 0, near.likeness
  from (select * from wanted m where m.shape <> '' and m.passages = 0 order by char_length(m.shape) desc limit 2) w
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id::text = workspace::text and v.shape % w.shape and v.passages > 0
    order by likeness desc, v.word limit 20) near
  where near.likeness < 1;
end
$function$;

CREATE OR REPLACE FUNCTION public.knowledge_vocabulary(asked text[], shapes text[], sources uuid[])
 RETURNS TABLE(ordinal integer, word text, passages integer, likeness real)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET "pg_trgm.similarity_threshold" TO '0.25'
AS $function$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
begin
  return query
  with wanted as materialized (
    select a.ordinal::int as ordinal, a.word collate "C" as word, a.shape, coalesce(v.passages, 0) as passages
    from unnest(asked, shapes) with ordinality a (word, shape, ordinal)
    left join knowledge_words v on v.workspace_id = workspace and v.word = a.word
  )
  select 0, '', v.passages, 1::real from knowledge_words v where v.workspace_id = workspace and v.word = ''
  union all
  select -1, '', count(*)::int, 1::real
  from (select from knowledge_passages p where p.workspace_id = workspace and p.source_id = any (sources) limit 10000) scope
  union all
  select w.ordinal, w.word, w.passages, 1::real from wanted w
  union all
  -- Inflections: words that begin alike. U+10FFFF sorts after every letter.
  select w.ordinal, near.word, near.passages, near.likeness
  from wanted w
  cross join lateral (select left(w.word, greatest(4, char_length(w.word) - 3)) collate "C" as stem) s
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id = workspace and v.word >= s.stem and v.word < s.stem || chr(1114111)
      and v.word <> w.word and v.passages > 0
    order by likeness desc, v.word limit 5) near
  where w.shape <> '' and near.likeness >= 0.4
  union all
  -- Typing errors: what looks like a word that is not there.
  select w.ordinal, near.word, near.passages, near.likeness
  from (select * from wanted m where m.shape <> '' and m.passages = 0 order by char_length(m.shape) desc limit 2) w
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id::text = workspace::text and v.shape % w.shape and v.passages > 0
    order by likeness desc, v.word limit 20) near;
end
$function$;

CREATE OR REPLACE FUNCTION public.let_system_see(target regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format($policy$
    create policy every_workspace on %s to guildhall_system
      using (sees_every_workspace()) with check (sees_every_workspace())
  $policy$, target);
end
$function$;

CREATE OR REPLACE FUNCTION public.protect_tenant_table(target regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format($policy$
    create policy own_workspace on %s to guildhall_app
      using (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)
      with check (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)
  $policy$, target);
  perform let_system_see(target);
end
$function$;

CREATE OR REPLACE FUNCTION public.sees_every_workspace()
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select current_user = 'guildhall_system' or current_setting('guildhall.migration', true) = 'on'
$function$;

grant usage on schema public to guildhall_app;
grant usage on schema public to guildhall_system;
grant usage on schema public to public;
grant delete, insert, select, update on table agent_commands to guildhall_app;
grant delete, insert, select, update on table agent_commands to guildhall_system;
grant delete, insert, select, update on table agent_links to guildhall_app;
grant delete, insert, select, update on table agent_links to guildhall_system;
grant delete, insert, select, update on table agent_variables to guildhall_app;
grant delete, insert, select, update on table agent_variables to guildhall_system;
grant delete, insert, select, update on table agents to guildhall_app;
grant delete, insert, select, update on table agents to guildhall_system;
grant delete, insert, select, update on table ai_models to guildhall_app;
grant delete, insert, select, update on table ai_models to guildhall_system;
grant delete, insert, select, update on table api_keys to guildhall_system;
grant delete, insert, select, update on table approvals to guildhall_app;
grant delete, insert, select, update on table approvals to guildhall_system;
grant delete, insert, select, update on table automation_executions to guildhall_app;
grant delete, insert, select, update on table automation_executions to guildhall_system;
grant delete, insert, select, update on table automations to guildhall_app;
grant delete, insert, select, update on table automations to guildhall_system;
grant delete, insert, select, update on table budgets to guildhall_app;
grant delete, insert, select, update on table budgets to guildhall_system;
grant delete, insert, select, update on table channel_connections to guildhall_app;
grant delete, insert, select, update on table channel_connections to guildhall_system;
grant delete, insert, select, update on table channel_identities to guildhall_app;
grant delete, insert, select, update on table channel_identities to guildhall_system;
grant delete, insert, select, update on table chat_files to guildhall_app;
grant delete, insert, select, update on table chat_files to guildhall_system;
grant delete, insert, select, update on table chat_usage to guildhall_app;
grant delete, insert, select, update on table chat_usage to guildhall_system;
grant delete, insert, select, update on table checkouts to guildhall_app;
grant delete, insert, select, update on table checkouts to guildhall_system;
grant delete, insert, select, update on table client_changes to guildhall_app;
grant delete, insert, select, update on table client_changes to guildhall_system;
grant delete, insert, select, update on table client_invitations to guildhall_app;
grant delete, insert, select, update on table client_invitations to guildhall_system;
grant delete, insert, select, update on table client_tokens to guildhall_app;
grant delete, insert, select, update on table client_tokens to guildhall_system;
grant delete, insert, select, update on table client_users to guildhall_app;
grant delete, insert, select, update on table client_users to guildhall_system;
grant delete, insert, select, update on table clients to guildhall_app;
grant delete, insert, select, update on table clients to guildhall_system;
grant delete, insert, select, update on table conversations to guildhall_app;
grant delete, insert, select, update on table conversations to guildhall_system;
grant delete, insert, select, update on table coupon_plans to guildhall_app;
grant delete, insert, select, update on table coupon_plans to guildhall_system;
grant delete, insert, select, update on table coupons to guildhall_app;
grant delete, insert, select, update on table coupons to guildhall_system;
grant delete, insert, select, update on table credit_accounts to guildhall_app;
grant delete, insert, select, update on table credit_accounts to guildhall_system;
grant delete, insert, select, update on table credit_lots to guildhall_app;
grant delete, insert, select, update on table credit_lots to guildhall_system;
grant delete, insert, select, update on table credit_packages to guildhall_app;
grant delete, insert, select, update on table credit_packages to guildhall_system;
grant delete, insert, select, update on table credit_reservations to guildhall_app;
grant delete, insert, select, update on table credit_reservations to guildhall_system;
grant delete, insert, select, update on table deliveries to guildhall_app;
grant delete, insert, select, update on table deliveries to guildhall_system;
grant delete, insert, select, update on table early_receipts to guildhall_app;
grant delete, insert, select, update on table early_receipts to guildhall_system;
grant delete, insert, select, update on table end_users to guildhall_app;
grant delete, insert, select, update on table end_users to guildhall_system;
grant delete, insert, select, update on table external_links to guildhall_app;
grant delete, insert, select, update on table external_links to guildhall_system;
grant delete, insert, select, update on table external_mcps to guildhall_app;
grant delete, insert, select, update on table external_mcps to guildhall_system;
grant delete, insert, select, update on table http_tools to guildhall_app;
grant delete, insert, select, update on table http_tools to guildhall_system;
grant delete, insert, select, update on table hub_logos to guildhall_app;
grant delete, insert, select, update on table hub_logos to guildhall_system;
grant delete, insert, select, update on table hub_names to guildhall_app;
grant delete, insert, select, update on table hub_names to guildhall_system;
grant delete, insert, select, update on table hub_package_agents to guildhall_app;
grant delete, insert, select, update on table hub_package_agents to guildhall_system;
grant delete, insert, select, update on table hub_package_links to guildhall_app;
grant delete, insert, select, update on table hub_package_links to guildhall_system;
grant delete, insert, select, update on table hub_packages to guildhall_app;
grant delete, insert, select, update on table hub_packages to guildhall_system;
grant delete, insert, select, update on table hubs to guildhall_app;
grant delete, insert, select, update on table hubs to guildhall_system;
grant delete, insert, select, update on table idempotency_keys to guildhall_app;
grant delete, insert, select, update on table idempotency_keys to guildhall_system;
grant delete, insert, select, update on table inbound_messages to guildhall_app;
grant delete, insert, select, update on table inbound_messages to guildhall_system;
grant delete, insert, select, update on table knowledge_embeddings to guildhall_app;
grant delete, insert, select, update on table knowledge_embeddings to guildhall_system;
grant delete, insert, select, update on table knowledge_indexes to guildhall_app;
grant delete, insert, select, update on table knowledge_indexes to guildhall_system;
grant delete, insert, select, update on table knowledge_passages to guildhall_app;
grant delete, insert, select, update on table knowledge_passages to guildhall_system;
grant delete, insert, select, update on table knowledge_source_words to guildhall_app;
grant delete, insert, select, update on table knowledge_source_words to guildhall_system;
grant delete, insert, select, update on table knowledge_sources to guildhall_app;
grant delete, insert, select, update on table knowledge_sources to guildhall_system;
grant delete, insert, select, update on table knowledge_vectors to guildhall_app;
grant delete, insert, select, update on table knowledge_vectors to guildhall_system;
grant delete, insert, select, update on table knowledge_words to guildhall_app;
grant delete, insert, select, update on table knowledge_words to guildhall_system;
grant delete, insert, select, update on table live_replies to guildhall_app;
grant delete, insert, select, update on table live_replies to guildhall_system;
grant delete, insert, select, update on table mails to guildhall_app;
grant delete, insert, select, update on table mails to guildhall_system;
grant delete, insert, select, update on table memories to guildhall_app;
grant delete, insert, select, update on table memories to guildhall_system;
grant delete, insert, select, update on table messages to guildhall_app;
grant delete, insert, select, update on table messages to guildhall_system;
grant delete, insert, select, update on table native_connections to guildhall_app;
grant delete, insert, select, update on table native_connections to guildhall_system;
grant delete, insert, select, update on table operation_usage to guildhall_app;
grant delete, insert, select, update on table operation_usage to guildhall_system;
grant delete, insert, select, update on table payment_events to guildhall_app;
grant delete, insert, select, update on table payment_events to guildhall_system;
grant delete, insert, select, update on table payment_intents to guildhall_app;
grant delete, insert, select, update on table payment_intents to guildhall_system;
grant delete, insert, select, update on table plans to guildhall_app;
grant delete, insert, select, update on table plans to guildhall_system;
grant delete, insert, select, update on table prompt_parts to guildhall_app;
grant delete, insert, select, update on table prompt_parts to guildhall_system;
grant delete, insert, select, update on table public_addresses to guildhall_app;
grant delete, insert, select, update on table public_addresses to guildhall_system;
grant delete, insert, select, update on table skill_files to guildhall_app;
grant delete, insert, select, update on table skill_files to guildhall_system;
grant delete, insert, select, update on table skills to guildhall_app;
grant delete, insert, select, update on table skills to guildhall_system;
grant delete, insert, select, update on table tool_variables to guildhall_app;
grant delete, insert, select, update on table tool_variables to guildhall_system;
grant delete, insert, select, update on table turn_steps to guildhall_app;
grant delete, insert, select, update on table turn_steps to guildhall_system;
grant delete, insert, select, update on table turns to guildhall_app;
grant delete, insert, select, update on table turns to guildhall_system;
grant delete, insert, select, update on table workspace_revisions to guildhall_app;
grant delete, insert, select, update on table workspace_revisions to guildhall_system;
grant delete, insert, select, update on table workspaces to guildhall_system;
grant insert, select on table agent_versions to guildhall_app;
grant insert, select on table agent_versions to guildhall_system;
grant insert, select on table credit_entries to guildhall_app;
grant insert, select on table credit_entries to guildhall_system;
grant select on table workspaces to guildhall_app;
grant execute on function add_steps_partition(id uuid) to guildhall_app;
grant execute on function add_steps_partition(id uuid) to guildhall_system;
grant execute on function first_id_at(moment timestamp with time zone) to public;
grant execute on function flush_knowledge_passages() to guildhall_app;
grant execute on function knowledge_matches(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], graded boolean[], most integer, wanted integer) to guildhall_app;
grant execute on function knowledge_ranking(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], plain_weights real[], graded boolean[], average real, most integer, wanted integer) to guildhall_app;
grant execute on function knowledge_terms(asked text[], written text[], shapes text[], sources uuid[]) to guildhall_app;
grant execute on function knowledge_vocabulary(asked text[], shapes text[], sources uuid[]) to guildhall_app;
grant execute on function sees_every_workspace() to public;
