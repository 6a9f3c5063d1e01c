// Bind this device to a person, and sign with its key later; the keys are sealed in a vault.
import SignetCore
import SignetJourney
import SignetStorage

// snippet.hide
func answer(_ step: inout JourneyStep, vault: Vault) async throws {
    // snippet.show
    let device = DeviceBinding.Device(
        identifier: DeviceProfileCollector.identifier(for: "org.example.app") ?? "unknown", name: "Mira's desk",
        application: "org.example.app")
    let binding = DeviceBinding(VaultDeviceKeys(vault), device: device)
    if step.first(DeviceBindingCallback.self) != nil { try await step.answerDeviceBinding(with: binding) }
    if step.first(DeviceSigningVerifierCallback.self) != nil { try await step.answerDeviceSigning(with: binding) }
    // snippet.hide
}
