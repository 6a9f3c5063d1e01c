import SignetCore

/// The context of a login in a push message, about the machine that logs in: the members of its claim `x` (protocol/authenticator.md section 4.1).
///
/// AM sends `remoteIp`, `userAgent`, `platform` and `location` with `latitude` and `longitude`, each only when its journey
/// collects it. The message's signature covers them, and the browser that logs in chooses all of them but the address.
package struct LoginContext: Sendable, Hashable {
    /// The network address.
    package let address: String?
    /// The place: coordinates in degrees, or the server's own text.
    package let location: String?
    /// The browser and its system, such as `Firefox on Linux`, or the beginning of the user agent's text.
    package let browser: String?

    /// Reads the context of a message; all values are nil for a text that isn't a JSON object.
    package init(_ contextInfo: String?) {
        let members = contextInfo.flatMap { try? JSON.value(of: $0.utf8) }?.object ?? [:]
        address = Self.text(members["remoteIp"] ?? members["ipAddress"], limit: 60)
        location = Self.location(members["location"])
        let platform = Self.text(members["platform"], limit: 40)
        browser = members["userAgent"]?.string.flatMap { Self.browser($0) } ?? platform
    }

    private static func text(_ value: JSONValue?, limit: Int) -> String? {
        guard let text = value?.string.map({ NoticeText.line($0, limit: limit) }), !text.isEmpty else { return nil }
        return text
    }

    private static func location(_ value: JSONValue?) -> String? {
        if let name = text(value, limit: 80) { return name }
        guard let latitude = degrees(value?["latitude"]), let longitude = degrees(value?["longitude"]),
            abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        return "\(rounded(latitude)), \(rounded(longitude))"
    }

    private static func degrees(_ value: JSONValue?) -> Double? {
        switch value {
        case .integer(let number)?: Double(number)
        case .number(let number)?: number
        case .string(let text)?: Double(text)
        default: nil
        }
    }

    /// Returns degrees with two decimal places, about one kilometer.
    private static func rounded(_ degrees: Double) -> String {
        let hundredths = Int((degrees * 100).rounded())
        let (whole, rest) = abs(hundredths).quotientAndRemainder(dividingBy: 100)
        return "\(hundredths < 0 ? "-" : "")\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Returns the names of the browser and its system in a user agent's text.
    ///
    /// Browsers name others, too, to be served like them: the first name in this order that occurs is that of the browser itself.
    private static func browser(_ userAgent: String) -> String? {
        let browsers = [
            ("Edg/", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"),
            ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Chrome/", "Chrome"), ("CriOS/", "Chrome"), ("Safari/", "Safari"),
        ]
        let systems = [
            ("Android", "Android"), ("iPhone", "iOS"), ("iPad", "iPadOS"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
            ("Macintosh", "macOS"), ("Linux", "Linux"),
        ]
        guard let browser = browsers.first(where: { userAgent.contains($0.0) })?.1 else {
            let line = NoticeText.line(userAgent, limit: 80)
            return line.isEmpty ? nil : line
        }
        guard let system = systems.first(where: { userAgent.contains($0.0) })?.1 else { return browser }
        return "\(browser) on \(system)"
    }
}
