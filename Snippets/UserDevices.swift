// List the push devices that a server knows of the user, rename one, and delete one.
import SignetJourney

// snippet.hide
func tidyUp(_ app: IdentityClient) async throws {
    // snippet.show
    for device in try await app.devices.list(.push) {
        switch device.name {
        case "Push Device": try await app.devices.rename(device, to: "Work phone")
        case "Old phone": try await app.devices.delete(device)
        default: break
        }
    }
    // snippet.hide
}
