import SignetCore

/// The client errors of a device operation.
///
/// A node has an outcome for each error in ``known``; every other error leads to `failure`.
struct ClientErrors: Sendable {
    var known: [String]

    static let ofBinding = ClientErrors(known: ["Unsupported", "Abort", "Timeout"])
    static let ofSigning = ClientErrors(known: ofBinding.known + ["ClientNotRegistered"])

    var outcomes: [NodeOutcome] { known.map { NodeOutcome($0) } }

    func outcome(_ text: String) -> NodeOutcome { known.contains(text) ? NodeOutcome(text) : .failure }
}

/// The text of the device's authentication prompt.
struct DevicePrompt: Sendable {
    var title: LocalizedText = "Authentication required"
    var subtitle: LocalizedText = "Cryptography device binding"
    var description: LocalizedText = "Please complete with biometric to proceed"
}

extension ConfigurationDecoder {
    mutating func devicePrompt() -> DevicePrompt {
        let defaults = DevicePrompt()
        return DevicePrompt(
            title: localizedText("title", defaults.title), subtitle: localizedText("subtitle", defaults.subtitle),
            description: localizedText("description", defaults.description))
    }

    /// Decodes the maximum number of devices of a user; 0 for no limit.
    mutating func maxDevices() -> Int { integer("maxSavedDevices", 0, in: 0...DeviceRegistry.maxPerKind) }

    /// Decodes the client errors that are outcomes.
    ///
    /// An error must not have the name of an outcome that the node itself determines, because the client could then forge that
    /// outcome.
    mutating func clientErrors(_ defaultErrors: ClientErrors) -> ClientErrors {
        let name = "clientErrorOutcomes"
        let known = strings(name, defaultErrors.known)
        let own: [NodeOutcome] = [.success, .failure, .exceedDeviceLimit, .noDeviceRegistered, .keyNotFound]
        for error in known where own.contains(NodeOutcome(error)) {
            report(.conflict, in: name, "`\(error)` is an outcome that a client must not choose: remove it from `\(name)`")
        }
        if Set(known).count != known.count { report(.duplicate, in: name, "an error is listed twice") }
        return ClientErrors(known: known)
    }
}

extension OtherDevice {
    /// The id of the key that the device is bound to.
    var boundKeyID: String? { details["key"]?["kid"]?.string }
}
