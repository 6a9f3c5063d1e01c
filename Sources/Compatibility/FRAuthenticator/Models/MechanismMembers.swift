import SignetCore

/// The members of a mechanism's JSON (protocol/authenticator.md section 7.2).
extension SignetCore.Mechanism {
    var legacyMembers: [String: JSONValue] {
        var members = Dictionary(textsOrNull: [
            "id": legacyIdentifier, "mechanismUID": uid, "issuer": account.issuer, "accountName": account.accountName,
            "uid": userID, "resourceId": resourceID,
        ])
        members["timeAdded"] = .milliseconds(timeAdded)
        switch kind {
        case .oath(let settings):
            members["type"] = .string("otpauth")
            members["oathType"] = .string(kindName.rawValue)
            members["secret"] = .string(Base32.encode(settings.secret.bytes))
            members["algorithm"] = .string(settings.algorithm.rawValue.lowercased())
            members["digits"] = .integer(Int64(settings.digits.count))
            switch settings.factor {
            case .time(let period): members["period"] = .integer(Int64(period.seconds))
            // A counter is an unsigned 64-bit number. A counter above Int64.max is written as a string, because JSON readers may
            // round it.
            case .counter(let next):
                members["counter"] = Int64(exactly: next).map { JSONValue.integer($0) } ?? .string(String(next))
            }
        case .push(let settings):
            members["type"] = .string("pushauth")
            members["secret"] = .string(Base64.encode(settings.secret.bytes, as: .url))
            members["registrationEndpoint"] = .string(settings.registrationEndpoint.url)
            members["authenticationEndpoint"] = .string(settings.authenticationEndpoint.url)
            members["loadBalancer"] = settings.loadBalancerCookie.map { JSONValue.string($0) } ?? .null
            // The one-time parts of the registration are used up and not stored. The ForgeRock SDK's reader requires strings
            // here.
            members["messageId"] = .string("")
            members["challenge"] = .string("")
            // Members that only this SDK has: the addresses of the server's push stream and of the push gateway, and the push
            // platform if it isn't AM.
            if let server = settings.streamEndpoint { members["deskEndpoint"] = .string(server.url) }
            if let gateway = settings.gatewayEndpoint { members["frontEndpoint"] = .string(gateway.url) }
            if let platform = settings.platform { members["platform"] = .string(platform) }
        }
        return members
    }

    /// Reads a mechanism from its members, in the iOS or the Android form.
    init(legacy members: JSONMembers) throws {
        let kind: Kind
        switch try members.text("type") {
        case "otpauth", "totp", "hotp": kind = .oath(try OATHSettings(legacy: members))
        case "pushauth", "push": kind = .push(try PushSettings(legacy: members))
        default: throw JSONMemberError(name: "type")
        }
        self.init(
            uid: try members.text("mechanismUID"),
            account: AccountID(issuer: try members.text("issuer"), accountName: try members.text("accountName")), kind: kind,
            timeAdded: try members.moment("timeAdded"), userID: try members.optionalText("uid"),
            resourceID: try members.optionalText("resourceId"))
    }

    /// Reads a mechanism from its members and checks its kind.
    init(legacy members: JSONMembers, _ kind: KindName) throws {
        self = try SignetCore.Mechanism(legacy: members)
        guard kindName == kind else { throw JSONMemberError(name: "type") }
    }
}

extension OATHSettings {
    fileprivate init(legacy members: JSONMembers) throws {
        let secret = Secret(try Base32.decode(try members.text("secret")))
        guard let algorithm = OTPAlgorithm(spelling: try members.optionalText("algorithm") ?? "SHA1") else {
            throw JSONMemberError(name: "algorithm")
        }
        guard let digits = OTPDigits(try members.optionalInteger("digits") ?? OTPDigits.six.count) else {
            throw JSONMemberError(name: "digits")
        }
        let factor: MovingFactor
        let type = try members.optionalText("oathType") ?? members.text("type")
        switch type.lowercased() {
        case "totp":
            guard let period = OTPPeriod(seconds: try members.optionalInteger("period") ?? 30) else {
                throw JSONMemberError(name: "period")
            }
            factor = .time(period: period)
        case "hotp":
            let counter = try members.counter()
            // The ForgeRock SDK for Android increments the counter before it generates a code, so the stored counter is already
            // used. It writes the type in uppercase.
            guard type == "HOTP" else {
                factor = .counter(next: counter)
                break
            }
            guard counter < .max else { throw JSONMemberError(name: "counter") }
            factor = .counter(next: counter + 1)
        default: throw JSONMemberError(name: "oathType")
        }
        self.init(secret: secret, algorithm: algorithm, digits: digits, factor: factor)
    }
}

extension JSONMembers {
    /// Returns the counter. A missing or invalid counter is an error, because a counter that restarts would repeat codes.
    fileprivate func counter() throws -> UInt64 {
        switch self["counter"] {
        case .string(let text):
            if let counter = UInt64(text) { return counter }
        case let value?:
            if let counter = value.wholeNumber.flatMap(UInt64.init(exactly:)) { return counter }
        case nil: break
        }
        throw JSONMemberError(name: "counter")
    }

    fileprivate func endpoint(_ name: String) throws -> Endpoint? {
        try optionalText(name).map { try Endpoint(stored: $0) }
    }

    fileprivate func requiredEndpoint(_ name: String) throws -> Endpoint {
        guard let endpoint = try endpoint(name) else { throw JSONMemberError(name: name) }
        return endpoint
    }
}

extension PushSettings {
    fileprivate init(legacy members: JSONMembers) throws {
        self.init(
            secret: Secret(try Base64.decode(try members.text("secret"))),
            registrationEndpoint: try members.requiredEndpoint("registrationEndpoint"),
            authenticationEndpoint: try members.requiredEndpoint("authenticationEndpoint"),
            loadBalancerCookie: try members.optionalText("loadBalancer").flatMap { $0.isEmpty ? nil : $0 },
            streamEndpoint: try members.endpoint("deskEndpoint"), platform: try members.optionalText("platform"),
            gatewayEndpoint: try members.endpoint("frontEndpoint"))
    }
}
