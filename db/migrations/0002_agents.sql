-- Why: agents with their editable (draft) state, the variables of their prompt, the frozen published versions, and the
-- models that a workspace adds to the global catalogue.

create table ai_models (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 200),
  provider text not null check (char_length(provider) between 1 and 100),
  model_id text not null check (char_length(model_id) between 1 and 200),
  display_provider text not null,
  description text,
  icon_url text,
  context_window int not null check (context_window > 0),
  input_cost_per_1m_tokens numeric(14, 6) not null check (input_cost_per_1m_tokens >= 0),
  output_cost_per_1m_tokens numeric(14, 6) not null check (output_cost_per_1m_tokens >= 0),
  min_temperature double precision,
  max_temperature double precision,
  supports_temperature boolean not null default true,
  supports_image boolean not null default false,
  supports_document boolean not null default false,
  supports_thinking boolean not null default false,
  active boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  check (not supports_temperature or (min_temperature is not null and max_temperature is not null)),
  check (min_temperature <= max_temperature)
);
comment on table ai_models is 'Custom models of a workspace; the global catalogue is data in the program, not rows';
comment on column ai_models.input_cost_per_1m_tokens is 'USD per million tokens';
comment on column ai_models.output_cost_per_1m_tokens is 'USD per million tokens';
create unique index ai_models_model_key on ai_models (workspace_id, provider, model_id) where deleted_at is null;
select protect_tenant_table('ai_models');

create table agents (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 150),
  description text check (char_length(description) <= 2000),
  avatar_url text check (char_length(avatar_url) <= 1024),
  categories text[] not null default '{}' check (cardinality(categories) <= 10),
  status text not null default 'draft' check (status in ('draft', 'active', 'inactive', 'archived')),
  draft_version_number int default 1 check (draft_version_number >= 1),
  published_version_number int check (published_version_number >= 1),
  draft_digest text not null default '',
  published_digest text,
  ai_model_id uuid,
  system_prompt text check (char_length(system_prompt) <= 200000),
  temperature double precision check (temperature between 0 and 2),
  thinking_enabled boolean not null default false,
  thinking_effort text check (thinking_effort in ('low', 'medium', 'high')),
  dynamic_prompt_enabled boolean not null default false,
  audio_listening_enabled boolean not null default false,
  audio_response_enabled boolean not null default false,
  tts_voice text,
  follow_up_enabled boolean not null default false,
  follow_up_after_hours int check (follow_up_after_hours between 0 and 720),
  follow_up_inactivity_minutes int check (follow_up_inactivity_minutes between 1 and 1440),
  follow_up_interval_minutes int check (follow_up_interval_minutes between 1 and 10080),
  follow_up_max_attempts int check (follow_up_max_attempts between 1 and 10),
  follow_up_business_hours_start time(0),
  follow_up_business_hours_end time(0),
  follow_up_prompt text,
  genui_enabled boolean not null default false,
  long_term_memory_enabled boolean not null default false,
  memory_custom_instructions text,
  message_delay_enabled boolean not null default false,
  message_delay_type text check (message_delay_type in ('LOW', 'MEDIUM', 'HIGH', 'RANDOM')),
  message_splitting_enabled boolean not null default false,
  sandbox_enabled boolean not null default false,
  web_search_enabled boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint agents_archived_has_no_draft check ((status = 'archived') = (draft_version_number is null))
);
comment on column agents.draft_version_number is 'The number that the next publication takes; null while archived';
comment on column agents.draft_digest is 'Digest of the editable state with its link sets and variables, written with every change of them';
comment on column agents.published_digest is 'draft_digest at the last publication or restoration; hasUnpublishedChanges = it differs, or nothing is published';
comment on column agents.ai_model_id is 'A row of ai_models or an entry of the global catalogue, which is not in the database: hence no foreign key';
create unique index agents_name_key on agents (workspace_id, name) where deleted_at is null;
create index agents_list on agents (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('agents');

create table agent_variables (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  name text not null check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
  label text not null check (char_length(label) <= 200),
  description text check (char_length(description) <= 500),
  type text not null check (type in
    ('text_short', 'text_long', 'number', 'date', 'time', 'datetime', 'single_choice', 'multi_choice', 'bool')),
  required boolean not null default false,
  default_value jsonb,
  options jsonb check (jsonb_typeof(options) = 'array'),
  multi_choice_separator text check (char_length(multi_choice_separator) <= 10),
  boolean_text_when_true text,
  boolean_text_when_false text,
  sort_order int not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint agent_variables_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade,
  constraint agent_variables_name_key unique (workspace_id, agent_id, name),
  constraint agent_variables_options_with_choice check ((type in ('single_choice', 'multi_choice')) = (options is not null))
);
comment on column agent_variables.default_value is 'Shape depends on type; SQL null = none';
comment on column agent_variables.options is 'Choices in order: [{publicId, label, injectedText, sortOrder}]; null for other types';
select protect_tenant_table('agent_variables');

create table agent_versions (
  workspace_id uuid not null,
  agent_id uuid not null,
  version_number int not null check (version_number >= 1),
  snapshot jsonb not null check (jsonb_typeof(snapshot) = 'object'),
  notes text check (char_length(notes) <= 500),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, agent_id, version_number),
  constraint agent_versions_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade
);
comment on table agent_versions is 'Frozen at publication. Neither role may change or delete a row, so a copy may be cached for ever';
select protect_tenant_table('agent_versions');
revoke update, delete on agent_versions from guildhall_app, guildhall_system;
