import SignetCore
import SignetJourney
import SignetStorage

/// What this machine says of itself, and signs.
struct DeviceAnswers {
    let binding: DeviceBinding
    private let identifier: String

    /// What a server knows this program by.
    private static let application = "signet"

    init(_ session: Session, for profile: ServerProfile) {
        // Without a machine's id the vault's: random, and the same each time.
        identifier = DeviceProfileCollector.identifier(for: Self.application) ?? session.vault.header.id
        binding = DeviceBinding(
            VaultDeviceKeys(session.vault), for: profile,
            device: DeviceBinding.Device(identifier: identifier, name: Session.hostName, application: Self.application))
    }

    var profile: DeviceProfile { DeviceProfileCollector(identifier: identifier).collect() }
}
