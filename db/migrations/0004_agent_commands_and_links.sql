-- Why: what an agent is made of. Slash commands are the agent's own; everything else it uses belongs to the workspace and
-- is linked: one table for the six kinds of link, so that drafts, snapshots and restoring treat them alike.

create table agent_commands (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  name text not null check (char_length(name) between 1 and 150),
  command text not null check (char_length(command) <= 100 and command ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'),
  description text check (char_length(description) <= 500),
  prompt text not null check (char_length(prompt) between 1 and 10000),
  status text not null default 'active' check (status in ('active', 'inactive')),
  usage_count bigint not null default 0 check (usage_count >= 0),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint agent_commands_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade
);
comment on table agent_commands is 'Not part of a version: a change reaches the chat at once';
create unique index agent_commands_name_key on agent_commands (workspace_id, agent_id, name) where deleted_at is null;
create unique index agent_commands_slug_key on agent_commands (workspace_id, agent_id, command) where deleted_at is null;
select protect_tenant_table('agent_commands');

create table agent_links (
  workspace_id uuid not null,
  agent_id uuid not null,
  kind text not null check (kind in ('skill', 'knowledge_source', 'http_tool', 'external_mcp', 'native_mcp', 'sub_agent')),
  target_id uuid not null,
  seq bigint not null generated always as identity,
  active boolean not null default true,
  requires_approval boolean not null default false,
  instance_mode text not null default 'STATIC' check (instance_mode in ('STATIC', 'DYNAMIC')),
  description text check (char_length(description) between 1 and 500),
  ai_model_id uuid,
  sort_order int not null default 0 check (sort_order >= 0),
  created_at timestamptz(3) not null default now(),
  constraint agent_links_key primary key (workspace_id, agent_id, kind, target_id),
  constraint agent_links_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade,
  constraint agent_links_not_to_itself check (kind <> 'sub_agent' or target_id <> agent_id)
);
comment on table agent_links is 'Links of the draft; published ones are in agent_versions.snapshot';
comment on column agent_links.target_id is 'A row of the table that kind stands for; no foreign key, since that differs by row. Whoever links holds the target, whoever deletes it removes the links';
comment on column agent_links.seq is 'Order in which links were made: times can be equal';
comment on column agent_links.instance_mode is 'Of external_mcp and native_mcp; the others leave the default';
comment on column agent_links.ai_model_id is 'Of sub_agent: the model it runs on here; null = its own';
create index agent_links_target on agent_links (workspace_id, kind, target_id);
select protect_tenant_table('agent_links');
