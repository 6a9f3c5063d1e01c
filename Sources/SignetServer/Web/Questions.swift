/// The pages of OAuth 2.0 that ask the user for a decision or a code.
extension HTMLPage {
    /// Returns the page that asks the user to consent to a client's request.
    /// - Parameters:
    ///   - client: The client.
    ///   - user: The user.
    ///   - scopes: The requested scopes.
    ///   - claims: The names of the attributes that the client requests one by one.
    ///   - hidden: The parameters of the request, which the form sends again.
    ///   - target: The redirect URI, to which the form leads.
    /// - Returns: The page, whose form can lead the browser only to this server and to the origin of `target`.
    static func consent(
        client: RegisteredClient, user: UserKey, scopes: [String], claims: [String], hidden: [(name: String, value: String)],
        target: String
    ) -> HTMLPage {
        HTMLPage(
            title: localized(.allowQuestion, ["client": client.shownName]),
            clientLogo: client.logo,
            content: list(scopes, claims, localized(.asksToBeAllowed, ["client": client.shownName]))
                + tag("p", ["class": "quiet"]) { localized(.signedInAs, ["user": user.name]) } + question(hidden, saves: true),
            formTargets: CSPSource(target).map { [$0.text] } ?? [])
    }

    /// Returns the page that asks for the user code that a device shows.
    static func deviceCode(isWrong: Bool) -> HTMLPage {
        HTMLPage(
            title: localized(.connectDevice),
            content: (isWrong ? PagePart.alert(localized(.noSuchDeviceCode)) : .nothing)
                + tag("form", ["method": "get"]) {
                    tag("div", ["class": "field"]) {
                        tag("label", ["for": "user_code"]) { localized(.deviceCode) }
                        void(
                            "input",
                            [
                                "id": "user_code", "name": "user_code", "required": "", "autocomplete": "off",
                                "autocapitalize": "characters", "spellcheck": "false", "autofocus": Markup.flag(!isWrong),
                            ])
                    }
                    tag("div", ["class": "buttons"]) { PagePart.button(localized(.continueLabel)) }
                })
    }

    /// Returns the page that asks the user to allow the request of a device.
    /// - Parameters:
    ///   - device: The request of the device.
    ///   - client: The client; nil when it is not registered any more, so that the page names its id.
    ///   - csrf: The CSRF token of the session.
    /// - Returns: The page.
    static func device(_ device: DeviceAuthorization, of client: RegisteredClient?, csrf: String) -> HTMLPage {
        HTMLPage(
            title: localized(.allowQuestion, ["client": client?.shownName ?? device.client.id]),
            clientLogo: client?.logo,
            content: tag("p") { localized(.deviceShowsCode) }
                + tag("p", ["class": "number user-code"]) { device.userCode } + list(device.scopes, [], localized(.deviceAsks))
                + question([("csrf", csrf), ("user_code", device.userCode)], saves: false))
    }

    /// Returns the page for a user that has allowed or denied the request of a device.
    static func deviceAnswered(_ isAllowed: Bool, clientLogo: String?) -> HTMLPage {
        HTMLPage(
            title: localized(isAllowed ? .allowed : .denied), clientLogo: clientLogo,
            content: tag("p") { localized(.goBackToDevice) })
    }

    private static func list(_ scopes: [String], _ claims: [String], _ introduction: String) -> Markup {
        guard !scopes.isEmpty || !claims.isEmpty else {
            return tag("p") { localized(.asksForAll) }
        }
        return tag("p") { introduction }
            + tag("ul") {
                for scope in scopes { tag("li") { meaning(of: scope) } }
                for claim in claims { tag("li") { localized(.readAttribute, ["name": claim]) } }
            }
    }

    /// Returns the meaning of a standard scope (OpenID Connect Core 1.0 section 5.4), or the name of any other scope.
    private static func meaning(of scope: String) -> String {
        switch scope {
        case "openid": localized(.scopeOpenID)
        case "profile": localized(.scopeProfile)
        case "email": localized(.scopeEmail)
        case "address": localized(.scopeAddress)
        case "phone": localized(.scopePhone)
        default: scope
        }
    }

    private static func question(_ hidden: [(name: String, value: String)], saves: Bool) -> Markup {
        tag("form", ["method": "post"]) {
            for (name, value) in hidden { PagePart.hidden(name, value) }
            if saves {
                tag("label", ["class": "check"]) {
                    void("input", ["type": "checkbox", "name": "save_consent", "value": "on"])
                    tag("span") { localized(.doNotAskAgain) }
                }
            }
            tag("div", ["class": "buttons"]) {
                PagePart.button(localized(.allow), name: "decision", value: "allow")
                PagePart.button(localized(.deny), name: "decision", value: "deny", isMain: false)
            }
        }
    }
}

/// A source expression of a Content-Security-Policy for a URL: its origin, or only the scheme if it is an app's own scheme or a
/// policy cannot express the host.
struct CSPSource: Sendable, Hashable {
    let text: String
    /// The origin of an `http` or `https` URL; nil for other URLs, and for a host with unusual characters.
    let origin: String?

    /// Creates the source of a URL; nil when a policy cannot express it.
    init?(_ address: String) {
        guard let colon = address.firstIndex(of: ":") else { return nil }
        let scheme = address[..<colon].lowercased()
        guard scheme.first?.isLetter == true,
            scheme.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        guard scheme == "http" || scheme == "https" else {
            (text, origin) = ("\(scheme):", nil)
            return
        }
        let rest = address[address.index(after: colon)...]
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        guard rest.hasPrefix("//"), !authority.isEmpty else { return nil }
        let isUsual = authority.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "-.:[]".utf8.contains($0)
        }
        origin = isUsual ? "\(scheme)://\(authority)" : nil
        // A policy has no expression for an IPv6 address, and for other characters (Content Security Policy Level 3 section 2.3.1).
        text = isUsual && !authority.contains("[") ? "\(scheme)://\(authority)" : "\(scheme):"
    }
}
