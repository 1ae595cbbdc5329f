import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

type Schema = { enum?: unknown[]; 'x-extensible-enum'?: unknown[]; properties?: Record<string, Schema> };

type Components = { schemas: Record<string, Schema>; parameters: Record<string, { schema: Schema }> };

const { schemas, parameters }: Components = JSON.parse(
  readFileSync(join(root, 'generated/openapi.json'), 'utf8'),
).components;

/** Where the document has the values of a column: a schema, or a property of one. */
const IN_THE_DOCUMENT: Record<string, string> = {
  'agent_commands.status': 'CommandStatus',
  'agent_links.instance_mode': 'InstanceMode',
  'agent_variables.type': 'VariableType',
  'agents.approvals_by': 'ApprovalsBy',
  'agents.message_delay_type': 'MessageDelayTier',
  'agents.status': 'AgentStatus',
  'agents.thinking_effort': 'ThinkingEffort',
  'automation_executions.status': 'AutomationExecutionStatus',
  'automations.hitl_mode': 'HitlMode',
  'automations.last_run_status': 'AutomationExecutionStatus',
  'automations.status': 'AutomationStatus',
  'automations.trigger_mode': 'AutomationTriggerMode',
  'channel_connections.channel_type': 'ChannelTypeKey',
  'channel_connections.instance_mode': 'InstanceMode',
  'client_users.role': 'ClientRole',
  'clients.status': 'SubscriptionStatus',
  'clients.suspension_code': 'ClientSuspend.cancellationReason',
  'conversations.channel': 'ConversationChannel',
  'coupons.discount_type': 'DiscountType',
  'coupons.duration': 'CouponDuration',
  'coupons.scope': 'CouponScope',
  'external_mcps.auth_type': 'ExternalMcpAuthType',
  'external_mcps.status': 'ExternalMcpStatus',
  'http_tools.tool_type': 'HttpTool.toolType',
  'hubs.access_type': 'HubAccessType',
  'hubs.support_channel_type': 'SupportChannelType',
  'hubs.theme': 'HubTheme',
  'knowledge_sources.processing_status': 'ProcessingStatus',
  'knowledge_sources.source_type': 'KnowledgeSource.sourceType',
  'messages.role': 'MessageRole',
  'plans.billing_type': 'BillingType',
  'plans.status': 'PlanStatus',
  'workspaces.approvals_by': 'ApprovalsBy',
};

/** Columns whose values no response shows. */
const INTERNAL = [
  'agent_links.kind',
  'approvals.decided_by',
  'approvals.status',
  'budgets.scope',
  'budgets.unit',
  'channel_identities.kind',
  'checkouts.kind',
  'checkouts.status',
  'client_tokens.kind',
  'conversations.paused_by',
  'credit_entries.kind',
  'credit_lots.source',
  'deliveries.status',
  'early_receipts.status',
  'hub_names.kind',
  'hubs.payment_mode',
  'inbound_messages.status',
  'knowledge_sources.file_kind',
  'mails.kind',
  'mails.status',
  'native_connections.provider',
  'payment_events.status',
  'payment_intents.status',
  'public_addresses.kind',
  'turn_steps.kind',
  'turn_steps.status',
  'turns.kind',
  'turns.status',
];

/** The values that each column may have by a check that is about nothing else. */
function checkedColumns(sql: string): Map<string, string[]> {
  const columns = new Map<string, string[]>();
  let table = '';
  for (const line of sql.split('\n')) {
    table = line.match(/^create table (\w+)/)?.[1] ?? table;
    const [, column, values] = line.match(/CHECK \((\w+) = ANY \(ARRAY\[([^\]]*)\]\)\),?$/) ?? [];
    if (column === undefined || values === undefined) continue;
    columns.set(
      `${table}.${column}`,
      [...values.matchAll(/'([^']*)'/g)].map(([, value = '']) => value),
    );
  }
  return columns;
}

const checks = checkedColumns(readFileSync(join(root, 'generated/schema.sql'), 'utf8'));

test('a filter has the values of the open list that it chooses from', () => {
  expect(parameters.ConversationChannelFilter?.schema.enum).toEqual(schemas.ConversationChannel?.['x-extensible-enum']);
});

test('each column with a closed set of values is one of the document or an internal one', () => {
  expect([...checks.keys()].sort()).toEqual([...Object.keys(IN_THE_DOCUMENT), ...INTERNAL].sort());
});

test.each(Object.entries(IN_THE_DOCUMENT))('%s has the values of %s', (column, place) => {
  const [name = '', property] = place.split('.');
  const schema = property === undefined ? schemas[name] : schemas[name]?.properties?.[property];
  expect(checks.get(column)?.toSorted()).toEqual((schema?.enum ?? schema?.['x-extensible-enum'])?.toSorted());
});
