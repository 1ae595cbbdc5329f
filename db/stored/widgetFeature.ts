/** `plans.widget_features`: a line of the feature list in the pricing widget. */
export interface StoredWidgetFeature {
  included: boolean;
  text: string;
}
