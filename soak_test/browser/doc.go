// Package browser tests the pages of the launch log in Chromium, which is Debian's. Chromedp drives
// it, and axe-core looks for what keeps people from reading. scripts/browser fetches both.
//
// With IDMINT_SCREENSHOTS set, the same tests write the pictures of docs/screenshots.
package browser
