public import SignetCore

// What several callbacks of one step mean together (protocol/journey.md sections 2.6 to 2.8).

extension JourneyStep {
    /// The number to choose on the phone, while a push login waits.
    public var pushChallengeNumber: String? { hiddenValue("pushChallengeNumber") }

    /// The enrolment URI that the step shows as a QR code, `otpauth://`, `pushauth://` or `mfauth://`. It carries a secret. It is known
    /// by what it is, not by the id of its callback, which differs between servers.
    public var enrollmentURI: String? {
        callbacks(HiddenValueCallback.self).map(\.sentValue).first { value in
            ["otpauth://", "pushauth://", "mfauth://"].contains { value.lowercased().hasPrefix($0) }
        }
    }

    /// The text that tells of a journey that goes on elsewhere; nil when it does not.
    public var suspensionMessage: String? { first(SuspendedTextOutputCallback.self)?.message }

    /// Fills in the `HiddenValueCallback` with an id.
    /// - Throws: ``CallbackError/Code/noSuchCallback``, ``CallbackError/Code/noSuchInput``.
    public mutating func fillHiddenValue(_ id: String, _ value: String) throws(CallbackError) {
        guard let index = callbacks.firstIndex(where: { HiddenValueCallback($0)?.id == id }) else {
            throw CallbackError(.noSuchCallback, HiddenValueCallback.type, "the step has none with the id \(id)")
        }
        try callbacks[index].fill("", .string(value))
    }

    // MARK: PingOne Protect

    /// What the step asks PingOne Protect for; nil when it does not.
    public var protectRequest: ProtectRequest? {
        if let callback = first(PingOneProtectInitializeCallback.self) { return .initialize(callback.settings) }
        if let callback = first(PingOneProtectEvaluationCallback.self) {
            return .evaluate(pausesBehavioralData: callback.pausesBehavioralData)
        }
        for data in callbacks(MetadataCallback.self).map(\.data) where data["_type"]?.string == "PingOneProtect" {
            switch data["_action"]?.string {
            case "protect_initialize": return .initialize(ProtectSettings(data.object ?? [:]))
            case "protect_risk_evaluation":
                return .evaluate(pausesBehavioralData: data["pauseBehavioralData"]?.truth ?? false)
            default: continue
            }
        }
        return nil
    }

    /// Enters what PingOne Protect has seen, wherever the step wants it.
    /// - Throws: ``CallbackError/Code/noSuchCallback``.
    public mutating func fillProtect(signals: String) throws {
        if first(PingOneProtectEvaluationCallback.self) != nil {
            try fill(PingOneProtectEvaluationCallback.self) { $0.fill(signals: signals) }
        } else {
            try fillHiddenValue("pingone_risk_evaluation_signals", signals)
        }
    }

    /// Says why PingOne Protect did not start, or has seen nothing, wherever the step wants it.
    /// - Throws: ``CallbackError/Code/noSuchCallback``.
    public mutating func failProtect(_ clientError: String) throws {
        if first(PingOneProtectEvaluationCallback.self) != nil {
            try fill(PingOneProtectEvaluationCallback.self) { $0.fail(clientError) }
        } else if first(PingOneProtectInitializeCallback.self) != nil {
            try fill(PingOneProtectInitializeCallback.self) { $0.fail(clientError) }
        } else {
            try fillHiddenValue("clientError", clientError)
        }
    }

    // MARK: Recovery codes

    /// The recovery codes that a step shows once, and what the device is called that they replace.
    public struct RecoveryCodes: Sendable, Hashable {
        /// The codes, each as good as the device itself: to show, and never to log.
        public let codes: [Secret]
        /// The name of the device.
        public let deviceName: String
    }

    /// The recovery codes that the step shows; nil when it shows none. AM hands them over inside of a script for browsers, as texts
    /// that end in a new line.
    public var recoveryCodes: RecoveryCodes? {
        let scripts = callbacks(TextOutputCallback.self).filter { $0.messageType == .script }.map(\.message)
        guard let script = scripts.first(where: { $0.lowercased().contains("recovery codes") }) else { return nil }
        let codes = ScriptText(script).strings.compactMap { literal -> Secret? in
            guard literal.hasSuffix("\\n") else { return nil }
            let code = literal.dropLast(2)
            let isWord = !code.isEmpty && code.utf8.allSatisfy { $0.isWordCharacter }
            return isWord ? Secret(code.utf8) : nil
        }
        guard !codes.isEmpty else { return nil }
        let name = script.firstRange(of: "<em>").flatMap { start in
            script[start.upperBound...].firstRange(of: "</em>").map { script[start.upperBound..<$0.lowerBound] }
        }
        return RecoveryCodes(codes: codes, deviceName: name.map(String.init) ?? "New Security Key")
    }
}

extension UInt8 {
    /// A letter, a digit, `_` or `-`.
    fileprivate var isWordCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
