// Long because each trigger's configuration stands here with its descriptions.
import type { TriggerType } from '../toolkit.ts';

/** A trigger of a toolkit that sends signed webhooks, with the sender's own name of the event. */
export interface WebhookTrigger extends TriggerType {
  /** As the sender writes it, such as `invoice.paid`; null where the configuration names the events. */
  event: string | null;
}

type Properties = Record<string, Record<string, unknown>>;

function configSchema(properties: Properties, required: string[]): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  };
}

const GITHUB: Properties = {
  signingSecret: {
    type: 'string',
    title: 'Signing secret',
    description: "The webhook's secret at GitHub, by which the X-Hub-Signature-256 header of each delivery is checked.",
    minLength: 16,
    maxLength: 512,
    writeOnly: true,
  },
  repository: {
    type: 'string',
    title: 'Repository',
    description: 'Only events of this repository, as owner/name; without it, of all that deliver here.',
    pattern: '^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$',
  },
};

function githubTrigger(event: string, name: string, description: string, extra: Properties = {}): WebhookTrigger {
  return {
    slug: `GITHUB_${event.toUpperCase()}`,
    name,
    description,
    toolkit: 'github',
    event,
    configSchema: configSchema({ ...GITHUB, ...extra }, ['signingSecret']),
  };
}

function only(title: string, description: string, values: string[]): Properties[string] {
  return { type: 'array', title, description, items: { type: 'string', enum: values }, minItems: 1, uniqueItems: true };
}

const BRANCHES: Properties[string] = {
  type: 'array',
  title: 'Branches',
  description: 'Only these branches, without refs/heads/; without it, all.',
  items: { type: 'string', minLength: 1, maxLength: 255 },
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
};

// Names and actions: docs.github.com/webhooks/webhook-events-and-payloads
const github: WebhookTrigger[] = [
  githubTrigger('push', 'Push', 'Commits or tags are pushed to a repository.', { branches: BRANCHES }),
  githubTrigger('pull_request', 'Pull request', 'Something happens to a pull request.', {
    actions: only('Actions', 'Only these; without it, all.', [
      'opened',
      'reopened',
      'synchronize',
      'ready_for_review',
      'review_requested',
      'labeled',
      'closed',
      'edited',
    ]),
    branches: { ...BRANCHES, description: 'Only pull requests into these branches; without it, all.' },
  }),
  githubTrigger(
    'pull_request_review',
    'Pull request review',
    'A review of a pull request is submitted, edited or dismissed.',
    {
      actions: only('Actions', 'Only these; without it, all.', ['submitted', 'edited', 'dismissed']),
    },
  ),
  githubTrigger('issues', 'Issue', 'Something happens to an issue.', {
    actions: only('Actions', 'Only these; without it, all.', [
      'opened',
      'reopened',
      'closed',
      'edited',
      'assigned',
      'unassigned',
      'labeled',
      'unlabeled',
    ]),
  }),
  githubTrigger('issue_comment', 'Comment', 'Somebody comments on an issue or pull request.', {
    actions: only('Actions', 'Only these; without it, all.', ['created', 'edited', 'deleted']),
  }),
  githubTrigger('release', 'Release', 'A release is published or changed.', {
    actions: only('Actions', 'Only these; without it, all.', [
      'published',
      'released',
      'prereleased',
      'edited',
      'deleted',
    ]),
  }),
  githubTrigger('workflow_run', 'Workflow run', 'A run of GitHub Actions is requested, begins or ends.', {
    actions: only('Actions', 'Only these; without it, all.', ['requested', 'in_progress', 'completed']),
    conclusions: only('Conclusions', 'Only runs that ended so; without it, all.', [
      'success',
      'failure',
      'cancelled',
      'timed_out',
      'action_required',
      'neutral',
      'skipped',
    ]),
  }),
  githubTrigger('create', 'Branch or tag created', 'A branch or tag is created.'),
  githubTrigger('star', 'Star', 'Somebody stars a repository, or takes the star back.'),
];

const tolerance = (header: string): Properties[string] => ({
  type: 'integer',
  title: 'Tolerance in seconds',
  description: `How old the time in ${header} may be; older deliveries are refused as replays.`,
  minimum: 1,
  maximum: 86_400,
  default: 300,
});

const STRIPE: Properties = {
  signingSecret: {
    type: 'string',
    title: 'Signing secret',
    description:
      "The endpoint's signing secret at Stripe, by which the Stripe-Signature header of each delivery is checked.",
    pattern: '^whsec_[A-Za-z0-9+/=_-]{16,200}$',
    writeOnly: true,
  },
  toleranceSeconds: tolerance('the Stripe-Signature header'),
  livemode: {
    type: 'boolean',
    title: 'Live mode',
    description: 'true: only live events; false: only test events; without it, both.',
  },
};

function stripeTrigger(event: string, name: string, description: string): WebhookTrigger {
  return {
    slug: `STRIPE_${event.replaceAll('.', '_').toUpperCase()}`,
    name,
    description,
    toolkit: 'stripe',
    event,
    configSchema: configSchema(STRIPE, ['signingSecret']),
  };
}

// Names: docs.stripe.com/api/events/types
const stripe: WebhookTrigger[] = [
  stripeTrigger('checkout.session.completed', 'Checkout completed', 'A customer completes a Checkout session.'),
  stripeTrigger('payment_intent.succeeded', 'Payment succeeded', 'A payment succeeds.'),
  stripeTrigger('payment_intent.payment_failed', 'Payment failed', 'An attempt to pay fails.'),
  stripeTrigger('invoice.paid', 'Invoice paid', 'An invoice is paid, or marked as paid.'),
  stripeTrigger('invoice.payment_failed', 'Invoice payment failed', 'An attempt to pay an invoice fails.'),
  stripeTrigger('invoice.finalized', 'Invoice finalized', 'A draft invoice becomes an open one.'),
  stripeTrigger('customer.created', 'Customer created', 'A customer is created.'),
  stripeTrigger('customer.subscription.created', 'Subscription created', 'A customer subscribes to a plan.'),
  stripeTrigger(
    'customer.subscription.updated',
    'Subscription changed',
    'A subscription changes, say to another plan.',
  ),
  stripeTrigger('customer.subscription.deleted', 'Subscription ended', 'A subscription ends.'),
  stripeTrigger('customer.subscription.trial_will_end', 'Trial ends soon', 'A trial ends in three days.'),
  stripeTrigger('charge.refunded', 'Refund', 'A charge is refunded, in part or whole.'),
  stripeTrigger('charge.dispute.created', 'Dispute', 'A customer disputes a charge with their bank.'),
  {
    slug: 'STRIPE_EVENT',
    name: 'Any event',
    description: 'One of the chosen events happens, whichever Stripe has.',
    toolkit: 'stripe',
    event: null,
    configSchema: configSchema(
      {
        ...STRIPE,
        events: {
          type: 'array',
          title: 'Events',
          description: "Stripe's names of the events.",
          items: { type: 'string', pattern: '^[a-z0-9_]+(\\.[a-z0-9_]+)+$', maxLength: 100 },
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          examples: [['payout.paid', 'payout.failed']],
        },
      },
      ['signingSecret', 'events'],
    ),
  },
];

const headerName = (title: string, description: string): Properties[string] => ({
  type: 'string',
  title,
  description,
  // RFC 9110, 5.6.2: token
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
});

const onlyEvents = (description: string): Properties[string] => ({
  type: 'array',
  title: 'Events',
  description,
  items: { type: 'string', minLength: 1, maxLength: 200 },
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
});

const webhook: WebhookTrigger[] = [
  {
    slug: 'WEBHOOK_SIGNED',
    name: 'Signed webhook',
    description: 'A request arrives that is signed with an HMAC of its body.',
    toolkit: 'webhook',
    event: null,
    configSchema: configSchema(
      {
        signingSecret: {
          type: 'string',
          title: 'Signing secret',
          description: 'The secret that sender and receiver share.',
          minLength: 16,
          maxLength: 512,
          writeOnly: true,
        },
        signatureHeader: headerName('Signature header', 'Name of the header with the signature.'),
        signaturePrefix: {
          type: 'string',
          title: 'Signature prefix',
          description: 'What stands before the signature in the header, such as sha256=.',
          maxLength: 50,
          default: '',
        },
        algorithm: {
          type: 'string',
          title: 'Algorithm',
          description: 'Hash function of the HMAC.',
          enum: ['sha256', 'sha512', 'sha384', 'sha1'],
          default: 'sha256',
        },
        encoding: {
          type: 'string',
          title: 'Encoding',
          description: 'How the signature is written.',
          enum: ['hex', 'base64', 'base64url'],
          default: 'hex',
        },
        timestampHeader: headerName(
          'Timestamp header',
          'Name of a header with the time of sending in Unix seconds. The signature is then of time, dot and body.',
        ),
        toleranceSeconds: tolerance('the timestamp header'),
        eventHeader: headerName('Event header', 'Name of a header that tells the event; needed to choose events.'),
        events: onlyEvents('Only these values of the event header; without it, all.'),
      },
      ['signingSecret', 'signatureHeader'],
    ),
  },
  {
    slug: 'WEBHOOK_STANDARD',
    name: 'Standard webhook',
    description: 'A request arrives that is signed as the Standard Webhooks specification says.',
    toolkit: 'webhook',
    event: null,
    configSchema: configSchema(
      {
        signingSecret: {
          type: 'string',
          title: 'Signing secret',
          description: 'The secret in base64, with or without whsec_ before it.',
          pattern: '^(whsec_)?[A-Za-z0-9+/]{32,100}={0,2}$',
          writeOnly: true,
        },
        toleranceSeconds: tolerance('the webhook-timestamp header'),
        events: onlyEvents("Only these values of the body's `type`; without it, all."),
      },
      ['signingSecret'],
    ),
  },
];

/** Every built-in trigger, in the order in which lists show them. */
export const BUILTIN_TRIGGERS: readonly WebhookTrigger[] = [...github, ...stripe, ...webhook];
