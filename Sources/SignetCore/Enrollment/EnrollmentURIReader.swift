/// Interprets the parts of an enrollment URI.
struct EnrollmentURIReader {
    private let parts: EnrollmentURIParts
    private let policy: EndpointPolicy
    private let ignoresDamagedPolicies: Bool

    init(_ text: String, policy: EndpointPolicy, ignoresDamagedPolicies: Bool = false) throws(EnrollmentError) {
        parts = try EnrollmentURIParts(text)
        self.policy = policy
        self.ignoresDamagedPolicies = ignoresDamagedPolicies
    }

    private enum Scheme: String {
        case otpauth, pushauth, mfauth
        var hasOATH: Bool { self != .pushauth }
        var hasPush: Bool { self != .otpauth }
    }

    func read() throws(EnrollmentError) -> Enrollment {
        if parts.scheme == Self.steamScheme { return try steam() }
        if PrivacyIDEAURI.recognizes(parts) { return try PrivacyIDEAURI.enrollment(parts, policy) }
        guard let scheme = Scheme(rawValue: parts.scheme) else {
            throw EnrollmentError(namesKind ? .invalid : .unsupported, "scheme", "not otpauth, pushauth or mfauth")
        }
        guard !scheme.hasPush || parts.hasQuery else {
            throw EnrollmentError(.missing, "query", "the URI has no parameters")
        }
        if let version = parts.optional("version"), version != "1" {
            throw EnrollmentError(.unsupported, "version", "only version 1 is known")
        }
        var enrollment = Enrollment(account: try account(scheme))
        // Ping's push parser accepts `mfauth://push` for push alone.
        let hasOATH = scheme.hasOATH && !(scheme == .mfauth && parts.host == "push")
        if hasOATH { enrollment.oath = try oath(of: enrollment.account) }
        if scheme.hasPush { enrollment.push = try push() }
        enrollment.oathResourceID = hasOATH ? try text("oid") : nil
        enrollment.userID = try text("uid")
        if enrollment.userID == nil { enrollment.userID = try text("d") }
        enrollment.imageURL = try image()
        enrollment.backgroundColor = color()
        enrollment.policies = try policies()
        return enrollment
    }

    /// A Boolean value that indicates whether the authority is a known mechanism type.
    private var namesKind: Bool { ["totp", "hotp", "push"].contains(parts.host) }

    // MARK: Account

    /// Returns the account (section 1.2): the `issuer` parameter takes precedence over the label, a missing issuer becomes the
    /// account name, and a missing account name becomes `Untitled`.
    private func account(_ scheme: Scheme) throws(EnrollmentError) -> AccountID {
        var (issuer, account) = (parts.labelIssuer, parts.labelAccount)
        if let parameter = try issuerParameter(scheme) {
            issuer = parameter
            account = parts.account(of: parameter) ?? account
        }
        if issuer.isEmpty { issuer = account }
        guard !issuer.isEmpty else { throw EnrollmentError(.missing, "label", "neither an account name nor an issuer") }
        return AccountID(issuer: issuer, accountName: account.isEmpty ? "Untitled" : account)
    }

    /// Returns the issuer in the parameter `issuer`; nil when the parameter is absent or empty.
    ///
    /// Some servers and programs do not escape an issuer, or escape it as in forms. A `+` is therefore a space when the label has
    /// the same issuer with spaces, and a value that ends where the issuer of the label has a `&` is that issuer.
    private func issuerParameter(_ scheme: Scheme) throws(EnrollmentError) -> String? {
        guard let parameter = parts.optional("issuer") else { return nil }
        let text = scheme.hasPush ? decodedText(parameter) : nil
        var issuer = (text ?? parameter).trimmingWhitespace()
        if text == nil, parts.labelIssuer.hasPrefix("\(parameter)&") { return parts.labelIssuer }
        if text == nil, let spaced = parts.issuerOfForm?.trimmingWhitespace(), issuer != parts.labelIssuer,
            parts.account(of: issuer) == nil, spaced == parts.labelIssuer || parts.account(of: spaced) != nil
        {
            issuer = spaced
        }
        guard issuer.isSafeToShow else {
            throw EnrollmentError(.unsafe, "issuer", "it contains control characters or changes the direction of the text")
        }
        return issuer
    }

    /// The account that the URI names; nil when it names none.
    ///
    /// It is for messages about a URI that has another part that can't be read.
    var namedAccount: AccountID? {
        guard let scheme = Scheme(rawValue: parts.scheme) else { return nil }
        return try? account(scheme)
    }

    /// A Boolean value that indicates whether the URI names the hash function of the codes.
    var namesAlgorithm: Bool { parts["algorithm"] != nil }

    /// A Boolean value that indicates whether the issuer is only Python's text for an absent value.
    var hasPythonNone: Bool { parts.scheme == Scheme.otpauth.rawValue && parts["issuer"] == "None" && parts.labelIssuer.isEmpty }

    // MARK: One-time codes

    /// Reads the account and the settings for one-time codes, and ignores a part for push.
    func readCodes() throws(EnrollmentError) -> Enrollment {
        if parts.scheme == Self.steamScheme { return try steam() }
        guard let scheme = Scheme(rawValue: parts.scheme), scheme.hasOATH else {
            throw EnrollmentError(.unsupported, "scheme", "not otpauth or mfauth")
        }
        if let version = parts.optional("version"), version != "1" {
            throw EnrollmentError(.unsupported, "version", "only version 1 is known")
        }
        let account = try account(scheme)
        var enrollment = Enrollment(account: account, oath: try oath(of: account))
        enrollment.oathResourceID = try text("oid")
        enrollment.userID = try text(parts.optional("uid") == nil ? "d" : "uid")
        enrollment.imageURL = try image()
        enrollment.backgroundColor = color()
        enrollment.policies = try policies()
        return enrollment
    }

    private static let steamScheme = "steam"

    /// Reads `steam://` and a secret in base32, which names no account.
    private func steam() throws(EnrollmentError) -> Enrollment {
        guard let secret = try? Base32.decode(parts.host), !secret.isEmpty else {
            throw EnrollmentError(.invalid, "secret", "not base32, or empty")
        }
        return Enrollment(account: AccountID(issuer: "Steam", accountName: "Untitled"), oath: .steam(secret: Secret(secret)))
    }

    private func oath(of account: AccountID) throws(EnrollmentError) -> OATHSettings {
        let encoder = parts.optional("encoder")?.lowercased()
        let isSteam = parts.host == "steam" || encoder == "steam"
        let isTime =
            switch parts.host {
            case "totp", "steam": true
            case "hotp": false
            case "push" where parts.scheme == Scheme.otpauth.rawValue:
                throw EnrollmentError(.invalid, "type", "push is enrolled by pushauth or mfauth")
            default: throw EnrollmentError(.unsupported, "type", "neither totp nor hotp")
            }
        var settings = OATHSettings(secret: try secret("secret", decodedWith: Base32.decode, minLength: 1))
        if let name = parts["algorithm"] {
            guard let algorithm = OTPAlgorithm(spelling: name) else {
                throw EnrollmentError(.unsupported, "algorithm", "not SHA1, SHA256 or SHA512")
            }
            settings.algorithm = algorithm
        }
        // KeePassXC writes the number of digits that an account had before it became one of Steam.
        if !isSteam, let text = parts["digits"] {
            guard let digits = Int(text).flatMap(OTPDigits.init) else {
                throw EnrollmentError(.invalid, "digits", "not a number from 4 to 10")
            }
            settings.digits = digits
        }
        let seconds = try number("period", in: OTPPeriod.range)
        let period = seconds.flatMap(OTPPeriod.init) ?? .thirtySeconds
        let counter = try number("counter", in: 0...UInt64.max) ?? 0
        settings.factor = isTime ? .time(period: period) : .counter(next: counter)
        // The codes of an unknown encoder would be wrong.
        guard encoder == nil || encoder == "steam" else {
            throw EnrollmentError(.unsupported, "encoder", "neither steam nor the digits of RFC 4226")
        }
        guard isSteam || settings.isSteam(of: account.issuer) else { return settings }
        guard let steam = settings.asSteam else { throw .steamSettings }
        return steam
    }

    private func number<N: FixedWidthInteger>(_ name: String, in range: ClosedRange<N>) throws(EnrollmentError) -> N? {
        guard let text = parts[name] else { return nil }
        guard let number = N(text), range.contains(number) else {
            throw EnrollmentError(.invalid, name, "not an integer of \(range.lowerBound) or more, or too large")
        }
        return number
    }

    // MARK: Push

    private func push() throws(EnrollmentError) -> PushInvitation {
        let messageID = try parts.required("m")
        guard messageID.isSafeToShow else { throw EnrollmentError(.unsafe, "m", "it contains control characters") }
        return PushInvitation(
            secret: try secret("s", decodedWith: { text throws(InvalidEncoding) in try Base64.decode(text) }, minLength: 32),
            challenge: try bytes("c"),
            messageID: messageID,
            registrationEndpoint: try endpoint("r"),
            authenticationEndpoint: try endpoint("a"),
            loadBalancerCookie: try loadBalancerCookie(),
            resourceID: try text("pid"))
    }

    private func endpoint(_ name: String) throws(EnrollmentError) -> Endpoint {
        let value = try parts.required(name)
        guard let url = value.contains("://") ? value : decodedText(value) else {
            throw EnrollmentError(.invalid, name, "not the base64 of a web address")
        }
        do {
            return try Endpoint(url, policy: policy)
        } catch {
            throw EnrollmentError(error == .notAWebAddress ? .invalid : .unsafe, name, error.description)
        }
    }

    private func loadBalancerCookie() throws(EnrollmentError) -> String? {
        guard let value = parts.optional("l") else { return nil }
        guard let cookie = LoadBalancerCookie.text(from: value) else {
            throw EnrollmentError(.invalid, "l", "not the base64 of a cookie name and value")
        }
        return cookie
    }

    // MARK: Values

    private func secret(
        _ name: String, decodedWith decode: (String) throws(InvalidEncoding) -> [UInt8], minLength: Int
    ) throws(EnrollmentError) -> Secret {
        let text = try parts.required(name)
        do {
            let bytes = try decode(text)
            guard bytes.count >= minLength else {
                throw EnrollmentError(.unsafe, name, bytes.isEmpty ? "it is empty" : "shorter than \(minLength) bytes")
            }
            return Secret(bytes)
        } catch let error as InvalidEncoding {
            throw EnrollmentError(.invalid, name, error.description)
        } catch let error as EnrollmentError {
            throw error
        } catch {
            throw EnrollmentError(.invalid, name, "not decodable")
        }
    }

    private func bytes(_ name: String) throws(EnrollmentError) -> [UInt8] {
        let text = try parts.required(name)
        guard let bytes = try? Base64.decode(text), !bytes.isEmpty else {
            throw EnrollmentError(.invalid, name, "not base64")
        }
        return bytes
    }

    /// Returns the text of a parameter that most servers send as base64 and some as plain text.
    private func text(_ name: String) throws(EnrollmentError) -> String? {
        guard let value = parts.optional(name) else { return nil }
        let text = decodedText(value) ?? value
        guard text.isSafeToShow else { throw EnrollmentError(.unsafe, name, "it contains control characters") }
        return text
    }

    /// Returns the text whose base64 is `value`; nil when `value` isn't base64 of displayable text.
    private func decodedText(_ value: String) -> String? {
        guard let bytes = try? Base64.decode(value), !bytes.isEmpty, let text = String(strictUTF8: bytes),
            text.isSafeToShow
        else { return nil }
        return text
    }

    private func image() throws(EnrollmentError) -> String? {
        guard let value = parts.optional("image") else { return nil }
        let text = value.contains("://") ? value : decodedText(value) ?? value
        guard text.isSafeToShow else { throw EnrollmentError(.unsafe, "image", "it contains control characters") }
        return text
    }

    /// Returns the background color.
    ///
    /// An invalid color is ignored, because it is only decoration.
    private func color() -> String? {
        guard let value = parts.optional("b") else { return nil }
        let digits = value.drop { $0 == "#" }
        guard [3, 6, 8].contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return "#" + digits
    }

    /// Returns the policies.
    ///
    /// Invalid policies are an error unless the caller ignores them, because they protect the account.
    private func policies() throws(EnrollmentError) -> [String: JSONValue] {
        guard let value = parts.optional("policies") else { return [:] }
        let bytes = value.hasPrefix("{") ? Array(value.utf8) : (try? Base64.decode(value)) ?? []
        guard let json = try? JSON.value(of: bytes), let policies = json.object, json.isStorable else {
            if ignoresDamagedPolicies { return [:] }
            throw EnrollmentError(.invalid, "policies", "not the base64 of a JSON object")
        }
        return policies
    }
}

extension EnrollmentURIReader {
    /// Reads the push values of a URI.
    func readPush() throws(EnrollmentError) -> PushURI {
        guard let scheme = Scheme(rawValue: parts.scheme), scheme.hasPush else {
            throw EnrollmentError(.invalid, "scheme", "not pushauth or mfauth")
        }
        let registration = try address("r")
        let authentication = try address("a")
        let policies = parts.optional("policies").map { $0.hasPrefix("{") ? $0 : decodedText($0) ?? $0 }
        let userID = try text(parts.optional("d") == nil ? "uid" : "d")
        return PushURI(
            account: try account(scheme), registrationURL: registration, authenticationURL: authentication,
            secret: Secret(try bytes("s")), userID: userID, resourceID: try text("pid"),
            imageURL: try image(), backgroundColor: color(), policies: policies)
    }

    /// Reads the values with which a device responds to the invitation.
    func readPushRegistration() throws(EnrollmentError) -> PushURI.Registration {
        let messageID = try parts.required("m")
        guard messageID.isSafeToShow else { throw EnrollmentError(.unsafe, "m", "it contains control characters") }
        _ = try parts.required("l")
        let challenge = try bytes("c")
        guard let cookie = try loadBalancerCookie() else { throw EnrollmentError(.missing, "l", "required, and not there") }
        return PushURI.Registration(messageID: messageID, loadBalancerCookie: cookie, challenge: challenge)
    }

    /// Returns a web address without applying the policy to it.
    private func address(_ name: String) throws(EnrollmentError) -> String {
        let value = try parts.required(name)
        guard let url = value.contains("://") ? value : decodedText(value), (try? Endpoint(unchecked: url)) != nil else {
            throw EnrollmentError(.invalid, name, "not the base64 of a web address")
        }
        return url
    }
}

/// The routing cookie of a load balancer, as it is encoded in URIs and push messages.
package enum LoadBalancerCookie {
    /// Returns the `name=value` text in `value`, which is plain or base64; nil when the text isn't a cookie, or isn't safe in a
    /// header.
    package static func text(from value: String) -> String? {
        // Valid base64 is always decoded, so that its padding is not taken for the `=` of a cookie.
        let bytes = (try? Base64.decode(value)) ?? Array(value.utf8)
        let equals = UInt8(ascii: "=")
        guard bytes.contains(equals), bytes.first != equals, bytes.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
