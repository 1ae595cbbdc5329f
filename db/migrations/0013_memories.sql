-- Why: what an agent with long-term memory knows of each of its end users, over all their conversations.

create table memories (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  external_user_id text not null check (char_length(external_user_id) between 1 and 255),
  fact text not null check (char_length(fact) between 1 and 1000),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint memories_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade
);
-- By digest: a fact of 1,000 characters can be larger than an index entry.
create unique index memories_fact_key on memories (workspace_id, agent_id, external_user_id, md5(fact));
create index memories_of_user on memories (workspace_id, agent_id, external_user_id, updated_at desc, id desc);
select protect_tenant_table('memories');
