import SignetCore

/// Nodes for one-time codes, push, keys on devices, and recovery codes.
extension NodeType {
    static let codes: [NodeType] = [
        .node(
            "OathRegistrationNode", "OATH Registration", "Shows the QR code for one-time codes and saves the device."
        ) { reader in
            OATHRegistrationNode(
                style: reader.enrollmentStyle(withCodes: true, withPush: false),
                postponesStorage: reader.truth("postponeDeviceProfileStorage", false))
        },
        .node("OathDeviceStorageNode", "OATH Device Storage", "Saves the device whose storage was postponed.") { _ in
            OATHDeviceStorageNode()
        },
        .node(
            "OathTokenVerifierNode", "OATH Token Verifier",
            "Asks for a one-time code: of the device whose storage was postponed, if there is one, otherwise of the user's. A code is good once. `recoveryCodeOutcome` is there when `isRecoveryCodeAllowed`: the page has a button."
        ) { reader in
            OATHTokenVerifierNode(
                prompt: reader.words("prompt", "Enter verification code"),
                timeSteps: reader.number("totpTimeSteps", 2, in: 0...100),
                counters: reader.number("hotpWindowSize", 100, in: 0...1000),
                allowsRecoveryCode: reader.truth("isRecoveryCodeAllowed", false))
        },
        .node(
            "RecoveryCodeDisplayNode", "Recovery Code Display Node",
            "Shows the recovery codes that the node before made, once. Without any it shows nothing."
        ) { _ in RecoveryCodeDisplayNode() },
        .node(
            "RecoveryCodeCollectorDecisionNode", "Recovery Code Collector Decision", "Asks for a recovery code, and uses it up."
        ) { reader in
            RecoveryCodeCollectorDecisionNode(
                kind: reader.choice(
                    "recoveryCodeType", "OATH",
                    ["OATH": DeviceKind.oath, "PUSH": DeviceKind.push, "WEB_AUTHN": DeviceKind.webauthn])
                    ?? .oath)
        },
    ]

    static let push: [NodeType] = [
        .node("PushRegistrationNode", "Push Registration", "Shows the QR code for push and waits for the device.") {
            reader in
            PushRegistrationNode(style: reader.enrollmentStyle(withCodes: false, withPush: true))
        },
        .node(
            "CombinedMultiFactorRegistrationNode", "Combined MFA Registration",
            "Shows one QR code for push and one-time codes and waits for the device."
        ) { reader in
            PushRegistrationNode(withOATH: true, style: reader.enrollmentStyle(withCodes: true, withPush: true))
        },
        .node(
            "PushAuthenticationSenderNode", "Push Sender",
            "Sends the user's device a message. Nobody can skip it here, as they can in AM."
        ) { reader in
            PushSenderNode(
                type: reader.choice(
                    "pushType", "DEFAULT",
                    [
                        "DEFAULT": PushSenderNode.PushType.tap, "CHALLENGE": PushSenderNode.PushType.number,
                        "BIOMETRIC": PushSenderNode.PushType.biometric,
                    ]) ?? .tap,
                message: reader.words("userMessage", PushSenderNode().message), tellsContext: reader.truth("contextInfo", false),
                payload: reader.optionalTexts("customPayload") ?? [],
                lifetime: reader.optionalNumber("messageTimeout", in: 1000...86_400_000, standard: "the server's `pushTimeout`")
                    .map { $0 / 1000 })
        },
        .node(
            "PushWaitNode", "Push Wait",
            "Lets the client wait, and shows the number if there is one. Without an `exitMessage`, the text of a button, nobody comes to `EXITED`."
        ) { reader in
            let standard = PushWaitNode()
            return PushWaitNode(
                message: reader.words("waitingMessage", standard.message),
                numberMessage: reader.words("challengeMessage", standard.numberMessage),
                exit: reader.optionalWords("exitMessage", standard: "no button"),
                seconds: reader.optionalNumber("secondsToWait", in: 1...86_400, standard: "the server's schedule"))
        },
        .node("PushResultVerifierNode", "Push Result Verifier Node", "Looks what became of the message.") { _ in
            PushResultVerifierNode()
        },
    ]

    static let devices: [NodeType] = [
        .node("DeviceMatchNode", "Device Match", "Whether the profile that was collected is one of the person's.") { reader in
            DeviceMatchNode(
                variance: reader.number("acceptableVariance", 0, in: 0...1000),
                expiration: reader.number("expiration", 30, in: 1...36_500))
        },
        .node("DeviceSaveNode", "Device Profile Save", "Keeps the profile that was collected.") { reader in
            DeviceSaveNode(
                savesMetadata: reader.truth("saveDeviceMetadata", true), savesLocation: reader.truth("saveDeviceLocation", true),
                nameAttribute: reader.optionalText("variableName", standard: "what the device calls itself"))
        },
        .node(
            "DeviceBindingNode", "Device Binding",
            "Has a device make a key, and binds it to the person. `exceedDeviceLimit` is there with `maxSavedDevices`."
        ) { reader in
            DeviceBindingNode(
                authenticationType: reader.choice(
                    "authenticationType", "NONE",
                    [
                        "NONE": "NONE", "APPLICATION_PIN": "APPLICATION_PIN", "BIOMETRIC_ONLY": "BIOMETRIC_ONLY",
                        "BIOMETRIC_ALLOW_FALLBACK": "BIOMETRIC_ALLOW_FALLBACK",
                    ]) ?? "NONE",
                timeout: reader.number("timeout", 60, in: 1...86_400), prompt: reader.devicePrompt(),
                applications: reader.optionalTexts("applicationIds", standard: "any app") ?? [],
                postponesStorage: reader.truth("postponeDeviceProfileStorage", false), mostDevices: reader.mostDevices(),
                clientErrors: reader.clientErrors(.ofBinding))
        },
        .node("DeviceBindingStorageNode", "Device Binding Storage", "Saves the device whose storage was postponed.") { _ in
            DeviceBindingStorageNode()
        },
        .node(
            "DeviceSigningVerifierNode", "Device Signing Verifier",
            "Has a bound device sign a challenge. When nobody has said who they are, the device does."
        ) { reader in
            DeviceSigningVerifierNode(
                timeout: reader.number("timeout", 60, in: 1...86_400), prompt: reader.devicePrompt(),
                applications: reader.optionalTexts("applicationIds", standard: "any app") ?? [],
                clientErrors: reader.clientErrors(.ofSigning))
        },
        .node(
            "WebAuthnRegistrationNode", "WebAuthn Registration Node",
            "Has an authenticator make a passkey. Only ES256 is known, and no proof of the authenticator's maker is asked for. `exceedDeviceLimit` is there with `maxSavedDevices`. With its storage postponed, recovery codes and the limit are the storage node's."
        ) { reader in
            WebAuthnRegistrationNode(
                style: reader.webAuthnStyle(withName: true),
                generatesRecoveryCodes: reader.truth("generateRecoveryCodes", true),
                postponesStorage: reader.truth("postponeDeviceProfileStorage", false),
                mostDevices: reader.mostDevices())
        },
        .node(
            "WebAuthnDeviceStorageNode", "WebAuthn Device Storage",
            "Saves the passkey whose storage was postponed. `exceedDeviceLimit` is there with `maxSavedDevices`."
        ) { reader in
            WebAuthnDeviceStorageNode(
                generatesRecoveryCodes: reader.truth("generateRecoveryCodes", true), mostDevices: reader.mostDevices())
        },
        .node(
            "WebAuthnAuthenticationNode", "WebAuthn Authentication Node",
            "Has an authenticator sign with one of the person's passkeys. `recoveryCode` is there when `isRecoveryCodeAllowed`."
        ) { reader in
            WebAuthnAuthenticationNode(
                style: reader.webAuthnStyle(withName: false), allowsRecoveryCode: reader.truth("isRecoveryCodeAllowed", false))
        },
    ]
}

extension SectionReader {
    /// Reads the properties that all registration nodes share.
    fileprivate mutating func enrollmentStyle(withCodes: Bool, withPush: Bool) -> EnrollmentStyle {
        var style = EnrollmentStyle()
        style.issuer = optionalText("issuer", standard: "the server's")
        style.backgroundColor = color("bgColor")
        style.imageURL = optionalText("imgUrl", standard: "none")
        style.message = optionalWords("scanQRCodeMessage", standard: "the node's own words")
        style.generatesRecoveryCodes = truth("generateRecoveryCodes", true)
        if withPush { style.timeout = optionalNumber("timeout", in: 1...86_400, standard: "the server's `pushTimeout`") }
        guard withCodes else { return style }
        style.usesCounter = choice("algorithm", "TOTP", ["TOTP": false, "HOTP": true]) ?? false
        style.digits =
            choice("passwordLength", "SIX_DIGITS", ["SIX_DIGITS": OTPDigits.six, "EIGHT_DIGITS": OTPDigits.eight]) ?? .six
        let hashes: KeyValuePairs<String, OTPAlgorithm> = ["HMAC_SHA1": .sha1, "HMAC_SHA256": .sha256, "HMAC_SHA512": .sha512]
        style.algorithm = choice("totpHashAlgorithm", "HMAC_SHA1", hashes) ?? .sha1
        style.period = OTPPeriod(seconds: number("totpTimeInterval", 30, in: 1...86_400)) ?? .thirtySeconds
        // The setting is the number of hexadecimal digits, which is twice the number of bytes.
        style.secretLength = (number("minSharedSecretLength", 40, in: 32...256) + 1) / 2
        return style
    }

    /// Reads a color: hexadecimal digits with an optional `#`.
    mutating func color(_ name: String) -> String? {
        let kind = "six hexadecimal digits"
        guard let text = optionalText(name, kind: kind, standard: "the server's") else { return nil }
        let digits = text.drop { $0 == "#" }
        if digits.count == 6, digits.allSatisfy(\.isHexDigit) { return String(digits) }
        note(place(of: name), "`\(name)` is \(kind), `519387`, in quotes if it begins with `#`; not `\(text.shortened)`")
        return nil
    }

    fileprivate mutating func devicePrompt() -> DevicePrompt {
        let standard = DevicePrompt()
        return DevicePrompt(
            title: words("title", standard.title), subtitle: words("subtitle", standard.subtitle),
            description: words("description", standard.description))
    }

    fileprivate mutating func mostDevices() -> Int { number("maxSavedDevices", 0, in: 0...DeviceRegistry.mostOfAKind) }

    /// Reads the client errors that are outcomes. An error must not have the name of an outcome that the node itself determines,
    /// because the client could then forge that outcome.
    fileprivate mutating func clientErrors(_ standard: ClientErrors) -> ClientErrors {
        let name = "clientErrorOutcomes"
        let known = texts(name, standard.known)
        let own: [NodeOutcome] = [.success, .failure, .exceedDeviceLimit, .noDeviceRegistered, .keyNotFound]
        for error in known where own.contains(NodeOutcome(error)) {
            note(place(of: name), "`\(error)` is an outcome that a client must not choose: take it out of `\(name)`")
        }
        if Set(known).count != known.count { note(place(of: name), "an error is there twice") }
        return ClientErrors(known: known)
    }

    fileprivate mutating func webAuthnStyle(withName: Bool) -> WebAuthnStyle {
        var style = WebAuthnStyle()
        let isScript = truth("asScript", false)
        let isLegacy = truth("legacyMetadata", false)
        if isScript, isLegacy { note(place(of: "legacyMetadata"), "`legacyMetadata` means nothing with `asScript`: keep one") }
        style.form = isScript ? .script : isLegacy ? .legacy : .current
        style.userVerification =
            choice(
                "userVerificationRequirement", "PREFERRED",
                ["REQUIRED": "required", "PREFERRED": "preferred", "DISCOURAGED": "discouraged"]) ?? "preferred"
        style.timeout = number("timeout", 60, in: 1...86_400)
        style.domain = optionalText("relyingPartyDomain", standard: "the server's")
        check("relyingPartyDomain", style.domain, "a domain, such as `example.test`", TextRule.isHost)
        if withName { style.partyName = optionalText("relyingPartyName", standard: "the server's `issuer`") }
        style.origins = origins("origins", ofApps: true)
        return style
    }
}
