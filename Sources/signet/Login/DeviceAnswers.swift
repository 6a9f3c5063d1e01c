import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage

/// The device profile of this machine and its device binding, for the journey's callbacks.
struct DeviceAnswers {
    let binding: DeviceBinding
    private let identifier: String

    /// The name by which a server knows this program.
    private static let application = "signet"

    init(_ session: Session, for profile: ServerProfile) {
        // A machine without an ID uses that of the vault, which is random and stays the same.
        identifier = DeviceProfileCollector.identifier(for: Self.application) ?? session.vault.header.id
        binding = DeviceBinding(
            VaultDeviceKeys(session.vault), for: profile,
            device: DeviceBinding.Device(identifier: identifier, name: Session.hostName, application: Self.application))
    }

    var profile: DeviceProfile { DeviceProfileCollector(identifier: identifier).collect() }
}
