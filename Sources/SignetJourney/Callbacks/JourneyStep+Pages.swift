public import SignetCore

// Properties and methods that combine several callbacks of one step (protocol/journey.md sections 2.6 to 2.8).

extension JourneyStep {
    /// The number that the user must select on the phone while a push login waits.
    public var pushChallengeNumber: String? { hiddenValue("pushChallengeNumber") }

    /// The enrollment URI that the step shows as a QR code: `otpauth://`, `pushauth://` or `mfauth://`.
    ///
    /// It contains a secret. The URI is recognized by its scheme, because the ID of its callback differs between servers. If no
    /// callback carries it, the URI is read from the script that draws the code in a browser, where OpenAM has it only.
    public var enrollmentURI: String? {
        callbacks(HiddenValueCallback.self).map(\.sentValue).first(where: \.isEnrollmentURI)
            ?? scripts.lazy.flatMap { ScriptText($0).strings(after: "text") }.compactMap { JavaScriptLiteral.decode($0) }
            .first(where: \.isEnrollmentURI)
    }

    /// The remarks of OpenAM on the callbacks, such as the reason for showing a page again.
    ///
    /// They are for the user, in the user's language. Empty ones are left out.
    public var infoTexts: [String] {
        let member = otherMembers["infoText"]
        let texts = member?.array?.compactMap(\.string) ?? [member?.string].compactMap(\.self)
        return texts.filter { !$0.trimmingWhitespace().isEmpty }
    }

    /// The scripts for browsers that the step contains.
    private var scripts: [String] {
        callbacks(TextOutputCallback.self).filter { $0.messageType == .script }.map(\.message)
    }

    /// The message about the suspension of the journey; nil when the journey isn't suspended.
    public var suspensionMessage: String? { first(SuspendedTextOutputCallback.self)?.message }

    /// The hidden values that a script of the step names, and so fills in where the page is shown by a browser.
    ///
    /// Values that the server sends for the app aren't among them.
    package var hiddenValuesOfScripts: [HiddenValueCallback] {
        let scripts = scripts
        return callbacks(HiddenValueCallback.self).filter { hidden in
            !hidden.id.isEmpty && !hidden.sentValue.isEnrollmentURI && hidden.id != "pushChallengeNumber"
                && scripts.contains { $0.contains(hidden.id) }
        }
    }

    /// Fills in the `HiddenValueCallback` with the given ID.
    /// - Throws: ``CallbackError/Code/noSuchCallback``, ``CallbackError/Code/noSuchInput``.
    public mutating func fillHiddenValue(_ id: String, _ value: String) throws(CallbackError) {
        guard let index = callbacks.firstIndex(where: { HiddenValueCallback($0)?.id == id }) else {
            throw CallbackError(.noSuchCallback, HiddenValueCallback.type, "the step has no hidden value with the id \(id)")
        }
        try callbacks[index].fill("", .string(value))
    }

    // MARK: PingOne Protect

    /// The request of the step to PingOne Protect; nil when the step has no such request.
    public var protectRequest: ProtectRequest? {
        if let callback = first(PingOneProtectInitializeCallback.self) { return .initialize(callback.settings) }
        if let callback = first(PingOneProtectEvaluationCallback.self) {
            return .evaluate(pausesBehavioralData: callback.pausesBehavioralData)
        }
        for data in callbacks(MetadataCallback.self).map(\.data) where data["_type"]?.string == "PingOneProtect" {
            switch data["_action"]?.string {
            case "protect_initialize": return .initialize(ProtectSettings(data.object ?? [:]))
            case "protect_risk_evaluation":
                return .evaluate(pausesBehavioralData: data["pauseBehavioralData"]?.lenientBool ?? false)
            default: continue
            }
        }
        return nil
    }

    /// Enters the signals that PingOne Protect collected, in the callback that the step provides for them.
    /// - Throws: ``CallbackError/Code/noSuchCallback``.
    public mutating func fillProtect(signals: String) throws {
        if first(PingOneProtectEvaluationCallback.self) != nil {
            try fill(PingOneProtectEvaluationCallback.self) { $0.fill(signals: signals) }
        } else {
            try fillHiddenValue("pingone_risk_evaluation_signals", signals)
        }
    }

    /// Enters the error that prevented the start of PingOne Protect or the collection of signals, in the callback that the step
    /// provides for it.
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

    /// The recovery codes that a step shows once, and the name of the device that they replace.
    public struct RecoveryCodes: Sendable, Hashable {
        /// The recovery codes.
        ///
        /// Each of them replaces the device as a credential: show them, and never log them.
        public let codes: [Secret]
        /// The name of the device.
        public let deviceName: String
    }

    /// The recovery codes that the step shows; nil when it shows none.
    ///
    /// AM sends them inside a script for browsers, as string literals that end with `\n`.
    public var recoveryCodes: RecoveryCodes? {
        guard let script = scripts.first(where: { $0.lowercased().contains("recovery codes") }) else { return nil }
        let codes = ScriptText(script).strings.compactMap { literal -> Secret? in
            guard literal.hasSuffix("\\n") else { return nil }
            let code = literal.dropLast(2)
            let isWord =
                !code.isEmpty
                && code.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
            return isWord ? Secret(code.utf8) : nil
        }
        guard !codes.isEmpty else { return nil }
        let name = script.firstRange(of: "<em>").flatMap { start in
            script[start.upperBound...].firstRange(of: "</em>").map { script[start.upperBound..<$0.lowerBound] }
        }
        return RecoveryCodes(codes: codes, deviceName: name.map(String.init) ?? "New Security Key")
    }
}

extension String {
    /// True for an enrollment URI, by its scheme.
    package var isEnrollmentURI: Bool {
        let text = prefix(11).lowercased()
        return ["otpauth://", "pushauth://", "mfauth://"].contains { text.hasPrefix($0) }
    }
}
