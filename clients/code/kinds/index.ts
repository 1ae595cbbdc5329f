import { agentKind } from '../agent/agentKind.ts';
import type { Kind } from '../kind.ts';
import { automationsPart } from './automations.ts';
import { couponKind } from './coupon.ts';
import { creditPackageKind } from './creditPackage.ts';
import { externalLinkKind } from './externalLink.ts';
import { httpToolKind } from './httpTool.ts';
import { hubKind } from './hub.ts';
import { knowledgeSourceKind } from './knowledgeSource.ts';
import { mcpServerKind } from './mcpServer.ts';
import { planKind } from './plan.ts';
import { skillKind } from './skill.ts';

/** Every kind of thing that files describe. */
export const allKinds: readonly Kind[] = [
  skillKind,
  knowledgeSourceKind,
  httpToolKind,
  mcpServerKind,
  agentKind([automationsPart]),
  creditPackageKind,
  planKind,
  couponKind,
  externalLinkKind,
  hubKind,
];
