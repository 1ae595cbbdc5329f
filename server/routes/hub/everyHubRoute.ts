import { acceptForm, acceptPage } from './accept.ts';
import { assetRoute } from './assetRoute.ts';
import { checkoutPage, checkoutPost } from './checkout.ts';
import { homePage } from './home.ts';
import { pricingEmbed, pricingLoader, pricingPage } from './pricing.ts';
import { signInForm, signInLinkForm, signInLinkPage, signInPage, signOut } from './signIn.ts';
import { thankYouPage } from './thankYou.ts';
import type { HubRoute } from './visit.ts';

/** Every page of a hub. */
export const everyHubRoute: readonly HubRoute[] = [
  homePage,
  acceptPage,
  acceptForm,
  signInPage,
  signInForm,
  signInLinkPage,
  signInLinkForm,
  signOut,
  pricingPage,
  pricingEmbed,
  pricingLoader,
  checkoutPage,
  checkoutPost,
  thankYouPage,
  assetRoute,
];
