/** Words that say nothing about what is wanted. */
const STOP = new Set(
  `a all an and any are as at be but by can could do does for from get gets give has have how i in into is it its
   let like me my new of on one or our out please should so some that the their them then there these this to up us want
   was we what when where which who will with you your`.split(/\s+/),
);

/** The words of the API for words that people use. Each key is a word as `wordsOf` gives it. */
const MEANT: Record<string, string> = {
  abilit: 'feature',
  activat: 'update publish reactivate',
  add: 'create link upload',
  answer: 'message reply',
  api: 'tool',
  ask: 'send message',
  assign: 'link',
  assistant: 'agent',
  attach: 'link',
  block: 'suspend',
  bot: 'agent',
  brand: 'hub identity color logo',
  cancel: 'suspend delete',
  capabilit: 'feature',
  change: 'update',
  chat: 'send message',
  color: 'identity',
  colour: 'color identity',
  compan: 'client',
  connection: 'link',
  cron: 'automation schedule',
  customer: 'client',
  daily: 'automation schedule',
  deactivat: 'update suspend',
  delegat: 'sub',
  deploy: 'publish',
  detach: 'unlink',
  discount: 'coupon',
  disconnect: 'delete channel unlink',
  doc: 'knowledge source',
  document: 'knowledge source',
  edit: 'update',
  employee: 'user',
  erase: 'delete',
  faq: 'knowledge source',
  file: 'upload',
  freeze: 'publish',
  gmail: 'native toolkit',
  histor: 'conversation message',
  instruction: 'prompt',
  invit: 'invitation client',
  job: 'automation',
  llm: 'model',
  live: 'publish',
  log: 'execution message',
  make: 'create',
  member: 'user',
  menu: 'external link',
  modif: 'update',
  money: 'credit',
  pause: 'suspend update',
  pdf: 'knowledge source',
  price: 'plan',
  pricing: 'plan',
  register: 'create',
  release: 'publish',
  remov: 'delete unlink',
  renam: 'update',
  resum: 'reactivate',
  revert: 'restore',
  roll: 'restore version',
  rollback: 'restore version',
  run: 'execution test',
  say: 'send message',
  schedul: 'automation',
  see: 'list',
  set: 'update',
  setting: 'update',
  show: 'list',
  slack: 'native toolkit',
  speak: 'send message',
  start: 'create reactivate',
  stop: 'suspend delete',
  subscription: 'plan',
  switch: 'update',
  talk: 'send message',
  tariff: 'plan',
  team: 'user',
  telephone: 'whatsapp channel',
  text: 'source',
  turn: 'update',
  undo: 'restore',
  unblock: 'reactivate',
  view: 'list',
  voucher: 'coupon',
  webhook: 'trigger',
  website: 'web channel',
  write: 'create update send',
};

/** The words of a text in one form: without capitals, endings and words that say nothing; `camelCase` and `snake_case` are several words. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !STOP.has(word))
    .map(stem);
}

/** The words that are meant besides a word of a question. */
export function meantBy(word: string): string[] {
  return Object.hasOwn(MEANT, word) ? wordsOf(MEANT[word] ?? '') : [];
}

function stem(word: string): string {
  if (word.length < 4) return word;
  const base = word
    .replace(/ies$/, 'y')
    .replace(/(?<=[^aeiou]{2}|[^s]e|x|ch|sh|[^s])s$/, '')
    .replace(/(?<=\w{3})(ing|ed)$/, '');
  return base.length > 4 ? base.replace(/[ey]$/, '') : base;
}
