// Package browser tests the pages of the launch log in Debian's Chromium. Chromedp drives it, and
// axe-core looks for accessibility problems. scripts/browser installs Chromium and fetches
// axe-core.
//
// With IDMINT_SCREENSHOTS set, the same tests write the pictures of docs/screenshots.
package browser
