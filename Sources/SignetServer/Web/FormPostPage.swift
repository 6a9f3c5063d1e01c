import SignetCore

extension HTMLPage {
    /// Returns the page that posts the response of `authorize` to the client (OAuth 2.0 Form Post Response Mode).
    ///
    /// The script of the pages sends the form at once. The button is for browsers without scripts.
    /// - Parameters:
    ///   - fields: The response parameters.
    ///   - client: The client.
    ///   - redirectURI: The client's address, which is verified.
    /// - Returns: A page whose policy permits a form to the origin of that address. It sends its own origin with the form, because
    ///   clients may verify the header `Origin`.
    static func formPost(
        _ fields: [(name: String, value: String)], of client: RegisteredClient, to redirectURI: String
    ) -> HTMLPage {
        HTMLPage(
            title: localized(.backTo, ["client": client.shownName]),
            purpose: localized(.answerIsSent, ["client": client.shownName]),
            content: tag("form", ["method": "post", "action": redirectURI, "data-submit": ""]) {
                for (name, value) in fields { PagePart.hidden(name, value) }
                tag("div", ["class": "buttons"]) { PagePart.button(localized(.continueLabel)) }
            },
            formTargets: CSPSource(redirectURI).map { [$0.text] } ?? [], referrerPolicy: "strict-origin")
    }
}
