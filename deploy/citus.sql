-- Distributes the tables over the workers of a Citus cluster, by workspace_id. Run it once, as a superuser, on the coordinator, after the
-- migrations and before the service takes requests:
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f deploy/citus.sql
--
-- docs/operating.md says what was tried. tests/db/citus.test.ts compares the two lists with the catalogue.

begin;

create extension if not exists citus;

-- Small, the same on every node, and asked before the workspace is known.
select create_reference_table('workspaces');
select create_reference_table('api_keys');
select create_reference_table('public_addresses');
select create_reference_table('hub_names');

-- One after the other, since foreign keys need their target distributed first. All rows of a workspace are on one node.
select create_distributed_table('agents', 'workspace_id', shard_count => 32);
select create_distributed_table('agent_commands', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('agent_links', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('agent_variables', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('agent_versions', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('ai_models', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('memories', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('channel_connections', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('end_users', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('channel_identities', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('hub_packages', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('external_links', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('credit_packages', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('hub_package_agents', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('hub_package_links', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('plans', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('hubs', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('hub_logos', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('coupons', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('coupon_plans', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('clients', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('client_changes', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('client_users', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('client_invitations', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('client_tokens', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('conversations', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('messages', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('turns', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('turn_steps', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('prompt_parts', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('approvals', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('inbound_messages', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('deliveries', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('early_receipts', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('live_replies', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('chat_files', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('chat_usage', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('automations', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('automation_executions', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('http_tools', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('tool_variables', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('external_mcps', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('native_connections', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('skills', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('skill_files', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_sources', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_passages', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_words', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_indexes', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_source_words', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_embeddings', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('knowledge_vectors', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('credit_accounts', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('credit_lots', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('credit_entries', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('budgets', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('credit_reservations', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('checkouts', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('payment_events', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('payment_intents', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('mails', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('idempotency_keys', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('operation_usage', 'workspace_id', colocate_with => 'agents');
select create_distributed_table('workspace_revisions', 'workspace_id', colocate_with => 'agents');

-- `set local` of role and workspace goes along to the workers: row-level security holds there, too.
do $$
begin
  execute format('alter database %I set citus.propagate_set_commands = ''local''', current_database());
end
$$;

-- Workers are reached as the role of the transaction, which therefore may log in. It gets its password, or a certificate, as
-- pg_hba.conf and pg_dist_authinfo of the cluster say.
alter role guildhall_app login;
alter role guildhall_system login;

commit;
